import { html, type Markup, PAGE_POLICY } from '../http/html.ts'
import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { startOfPage } from './error-page.ts'

const TITLE = 'Welcome to Portico'
const STYLE =
  'body{max-width:42rem;margin:12vh auto;padding:0 1.5rem}' +
  'pre{padding:1rem;overflow-x:auto;border-radius:.5rem;background:#8882}'

// Created when it is requested: most applications have controllers.
const page = (): Markup => html`${startOfPage(TITLE, STYLE)}
<h1>${TITLE}</h1>
<p>The server runs, but it has no controller: start it with <code>--controllers</code> or <code>--app</code>.</p>
<h2>A first controller</h2>
<p>Put this into <code>controllers/news.js</code>:</p>
<pre><code>export function list(request, response) {
  response.json({ page: request.param('page') ?? '1' })
}
</code></pre>
<p>Start the server with <code>--controllers controllers</code>, and request <code>/news/list?page=2</code>.</p>
</main>
</html>
`

/** The built-in controller `index`. It is registered only if the application has no controller. */
export const welcomeController = {
  index(_request: HttpRequest, response: HttpResponse): void {
    response.headers.set('Content-Security-Policy', PAGE_POLICY)
    response.html(page())
  },
}
