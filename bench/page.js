// Portico's error page and its headers, written by hand, so that all servers send the same bytes.

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const STYLE =
  ':root{color-scheme:light dark;font:1.0625rem/1.6 system-ui,sans-serif}' +
  'body{max-width:42rem;margin:16vh auto 4rem;padding:0 1.5rem}' +
  'h1{margin:0;font-size:1.75rem;line-height:1.25}' +
  'p,li{overflow-wrap:anywhere}small{opacity:.75}code{font-size:.85em}' +
  'footer{margin-top:2.5rem;padding-top:.5rem;border-top:1px solid #8884}'

export const NOT_FOUND_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Accept',
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
}

/** Returns the first segment of a path. */
export function controllerOf(path) {
  return path.split('/', 2)[1] ?? ''
}

/**
 * Returns the HTML page for a controller that does not exist. It has no id: the log only counts most of these errors, and a
 * page shows an id only if the log has it.
 */
export function notFoundPage(controller) {
  const detail = `Invalid controller specified (${escapeHtml(controller)})`
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>404 Not Found</title><style>${STYLE}</style><main><h1>Page not found</h1><p>There is no page at this address. Check the address for typing errors.</p><p>${detail}</p><footer><p><small>Error 404 &middot; Not Found</small></p></footer></main></html>
`
}

function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character])
}
