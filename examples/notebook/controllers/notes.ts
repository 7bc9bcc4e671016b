import { defineController, HttpError, html, post } from 'portico'
import { page } from '../layout.ts'
import { notes } from '../notes.ts'

export default defineController({
  // GET /notes
  index(request, response) {
    const items = [...notes].map(([id, text]) => {
      const url = request.urlFor({ id }, { name: 'note' })
      return html`<li><a href="${url}">${text}</a></li>`
    })
    const content = html`<ul>${items}</ul>
<form method="post" action="/notes/save">
  <input name="text" aria-label="Text" required> <button>Save</button>
</form>`
    return page(request, response, 'Notes', content)
  },

  // GET /note/1, /notes/view/id/1, /notes/view?id=1
  view(request, response) {
    const text = notes.get(request.param('id') ?? '')
    if (text === undefined) throw new HttpError(404, 'No such note')
    return page(request, response, 'A note', html`<p>${text}</p>`)
  },

  // POST /notes/save
  save: post((request, response) => {
    const text = request.form.get('text')
    if (!text) throw new HttpError(400, 'A note needs a text')
    const id = String(notes.size + 1)
    notes.set(id, text)
    return response.redirect(request.urlFor({ id }, { name: 'note' }), 303)
  }),
})
