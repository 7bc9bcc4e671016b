import { STATUS_CODES } from 'node:http'
import { negotiate } from '../http/accept.ts'
import { factsOf, headersOf } from '../http/exceptions.ts'
import { PAGE_POLICY } from '../http/html.ts'
import { type ErrorHandler, type HttpRequest, headerOf } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { setUnchecked } from '../http/response-headers.ts'
import { formatIssue, type ValidationIssue } from '../http/validation-error.ts'
import { issuesForClient, messageForClient } from '../reporting/client-message.ts'
import { jsonLine } from '../reporting/printable.ts'
import { type Development, type ErrorPage, errorPage } from './error-page.ts'

/** What the page of a request's exception shows in development. */
export type Develop = (request: HttpRequest, exception: Error) => Development

// The first for who has no wish, or none that can be met.
const OFFERS = ['application/problem+json', 'application/json', 'text/html', 'text/plain'] as const
const MAX_DETAIL = 200
const FAULT = 'The server failed to answer this request.'

/**
 * The built-in controller `error`: answers with the exception's status, as the client's `Accept` asks.
 *
 * @param develop What the page shows besides, in development; nothing where it is absent.
 */
export function createErrorController(develop?: Develop): {
  error(request: HttpRequest, response: HttpResponse): void
} {
  return {
    error(request, response) {
      const { errorHandler } = request
      if (errorHandler === undefined) throw new TypeError('There is no error to answer for')
      const { exception } = errorHandler
      const { status } = factsOf(exception)
      response.status = status
      for (const [name, value] of Object.entries(headersOf(exception))) {
        response.headers.set(name, value)
      }
      setSafeHeaders(response)
      setUnchecked(response.headers, 'Vary', 'Accept')
      answer(request, response, errorHandler, status, develop)
    },
  }
}

/** The fixed answer to a second fault: nothing of the application takes part in it. */
export function failsafe(response: HttpResponse): HttpResponse {
  response.status = 500
  setSafeHeaders(response)
  response.text('Internal Server Error\n')
  return response
}

function answer(
  request: HttpRequest,
  response: HttpResponse,
  { exception, request: original }: ErrorHandler,
  status: number,
  develop: Develop | undefined,
): void {
  const page = pageOf(request.id, status, exception, original)
  switch (offerFor(headerOf(request, 'accept') ?? '')) {
    case 'text/html':
      response.html(errorPage(page, develop?.(original, exception)))
      setUnchecked(response.headers, 'Content-Security-Policy', PAGE_POLICY)
      break
    case 'text/plain':
      response.text(linesOf(page))
      break
    default:
      response.text(jsonLine(problemOf(page)))
      setUnchecked(response.headers, 'Content-Type', 'application/problem+json')
  }
}

// RFC 9457; `errors` as the example of its section 3.
function problemOf({ title, status, detail, issues = [], id }: ErrorPage): object {
  const problem = { type: 'about:blank', title, status, detail, instance: `urn:uuid:${id}` }
  if (issues.length === 0) return problem
  const errors = issues.map(({ path, message }) => ({ parameter: path, detail: message }))
  return { ...problem, errors }
}

function linesOf({ status, title, detail, issues = [], id }: ErrorPage): string {
  const said = issues.length > 0 ? issues.map(formatIssue) : [detail]
  return `${[`${status} ${title}`, ...said, `urn:uuid:${id}`].join('\n')}\n`
}

// Clients send a few headers again and again: to read one took a tenth of the time of an unrouted request.
const chosen = new Map<string, (typeof OFFERS)[number]>()
const MAX_CHOSEN = 100

function offerFor(accept: string): (typeof OFFERS)[number] {
  const known = chosen.get(accept)
  if (known !== undefined) return known
  const offer = negotiate(accept, OFFERS)
  if (chosen.size >= MAX_CHOSEN) chosen.clear()
  chosen.set(accept, offer)
  return offer
}

function pageOf(id: string, status: number, exception: Error, original: HttpRequest): ErrorPage {
  return {
    status,
    title: STATUS_CODES[status] ?? 'Error',
    // What failed in the server is nobody else's business.
    detail: status < 500 ? cut(messageForClient(exception, original)) : FAULT,
    issues: status < 500 ? issuesForClient(exception, original).map(cutIssue) : [],
    id,
  }
}

// When its values are gone: half a value would not be known for one.
function cutIssue({ path, message }: ValidationIssue): ValidationIssue {
  return { path: cut(path), message: cut(message) }
}

function cut(text: string): string {
  return text.slice(0, MAX_DETAIL).toWellFormed()
}

function setSafeHeaders({ headers }: HttpResponse): void {
  setUnchecked(headers, 'Cache-Control', 'no-store')
  setUnchecked(headers, 'Referrer-Policy', 'no-referrer')
  setUnchecked(headers, 'X-Content-Type-Options', 'nosniff')
}
