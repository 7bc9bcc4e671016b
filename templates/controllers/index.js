import { defineController, html } from 'portico'

export default defineController({
  // GET /
  index(request, response) {
    const url = request.urlFor({ controller: 'news' }, { reset: true })
    return response.html(html`<!doctype html><title>Home</title>
<h1>It works</h1>
<p><a href="${url}">Read the news</a></p>`)
  },
})
