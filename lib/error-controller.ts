import { STATUS_CODES } from 'node:http'
import { type ExceptionFacts, factsOf, headersOf } from './error-handler.ts'
import { html } from './html.ts'
import type { HttpRequest } from './request.ts'
import type { HttpResponse } from './response.ts'

const SAFE_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/** The built-in controller `error`: answers with the exception's status, for people or for programs. */
export const errorController = {
  error(request: HttpRequest, response: HttpResponse): void {
    const exception = request.errorHandler?.exception ?? new Error('No error is at hand')
    const facts = factsOf(exception)
    response.status = facts.status
    setHeaders(response, headersOf(exception))
    setHeaders(response, SAFE_HEADERS)
    response.headers.set('Vary', 'Accept')
    if (/text\/html/i.test(String(request.headers.accept))) answerPage(response, facts)
    else answerProblem(response, facts)
  },
}

/** The fixed answer to a second fault: nothing of the application takes part in it. */
export function failsafe(response: HttpResponse): HttpResponse {
  response.status = 500
  setHeaders(response, SAFE_HEADERS)
  response.text('Internal Server Error\n')
  return response
}

function answerPage(response: HttpResponse, facts: ExceptionFacts): void {
  const title = titleOf(facts)
  response.headers.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
  response.html(
    html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${detailOf(facts)}</p></html>`.toString(),
  )
}

function answerProblem(response: HttpResponse, facts: ExceptionFacts): void {
  response.json({
    type: 'about:blank',
    title: titleOf(facts),
    status: facts.status,
    detail: detailOf(facts),
  })
  response.headers.set('Content-Type', 'application/problem+json')
}

function titleOf({ status }: ExceptionFacts): string {
  return STATUS_CODES[status] ?? 'Error'
}

function detailOf({ status, message }: ExceptionFacts): string {
  return status < 500 ? message.slice(0, 200) : 'The server failed to answer this request.'
}

function setHeaders(response: HttpResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
}
