import { defineController, html } from 'portico'

export default defineController({
  // GET /
  index(_request, response) {
    return response.html(html`<h1>Notes</h1><p><a href="/notes">Read them</a></p>`)
  },
})
