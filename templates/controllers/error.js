import { defineController, HttpError, html } from 'portico'

export default defineController({
  // Runs for every error: an unknown URL, a thrown HttpError, any other exception (500).
  error(request, response) {
    const { exception, id } = request.errorHandler ?? {}
    const { status, message, headers } =
      exception instanceof HttpError ? exception : new HttpError(500)
    response.status = status
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
    response.headers.set('Cache-Control', 'no-store').set('Referrer-Policy', 'no-referrer')
    // The message of a 5xx is only for the log. The log has the id, too.
    const detail = status < 500 ? message : 'The server failed to answer this request.'
    // A browser prefers HTML.
    if (request.accepts(['application/json', 'text/html']) !== 'text/html') {
      return response.json({ status, detail, id })
    }
    return response.html(html`<!doctype html><title>${status}</title>
<h1>${status}</h1>
<p>${detail}</p>${id && html`<p>Error id: ${id}</p>`}`)
  },
})
