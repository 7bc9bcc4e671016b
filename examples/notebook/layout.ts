import { type HttpRequest, type HttpResponse, html, type Markup } from 'portico'

export function page(
  request: HttpRequest,
  response: HttpResponse,
  title: string,
  content: Markup,
): HttpResponse {
  const theme = request.cookies.get('theme') === 'dark' ? 'dark' : 'light'
  return response.html(html`<!doctype html>
<html lang="en" class="${theme}">
<title>${title}</title>
<link rel="stylesheet" href="/site.css">
<h1>${title}</h1>
${content}
`)
}
