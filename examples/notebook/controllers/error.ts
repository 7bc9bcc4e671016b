import { defineController, HttpError, html } from 'portico'
import { page } from '../layout.ts'

export default defineController({
  error(request, response) {
    const { exception, id } = request.errorHandler ?? {}
    const { status, headers } = exception instanceof HttpError ? exception : new HttpError(500)
    response.status = status
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
    response.headers.set('Cache-Control', 'no-store')
    const content = html`<p>Status ${status}${id && html`, error id ${id}`}</p>`
    return page(request, response, 'Sorry', content)
  },
})
