import { defineController, HttpError, html, post } from 'portico'

const titles = new Map([['1', 'Portico opens']])

export default defineController({
  // GET /news
  index(request, response) {
    const items = [...titles].map(([id, title]) => {
      // Without `reset`, the link would also have the pairs of this request, such as /page/2.
      const url = request.urlFor({ controller: 'news', action: 'view', id }, { reset: true })
      return html`<li><a href="${url}">${title}</a></li>`
    })
    const action = request.urlFor({ controller: 'news', action: 'save' }, { reset: true })
    return response.html(html`<!doctype html><title>News</title>
<h1>News</h1>
<ul>${items}</ul>
<form method="post" action="${action}">
  <input name="title" aria-label="Title" required> <button>Add</button>
</form>`)
  },

  // GET /news/view/id/1
  view(request, response) {
    const title = titles.get(request.param('id') ?? '')
    if (title === undefined) throw new HttpError(404, 'There is no such article')
    return response.html(html`<!doctype html><title>${title}</title><h1>${title}</h1>`)
  },

  // POST /news/save
  save: post((request, response) => {
    const title = request.form.get('title')?.trim()
    if (!title) throw new HttpError(400, 'An article needs a title')
    const id = String(titles.size + 1)
    titles.set(id, title)
    const url = request.urlFor({ controller: 'news', action: 'view', id }, { reset: true })
    return response.redirect(url, 303)
  }),
})
