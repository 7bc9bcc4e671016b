import { STATUS_CODES } from 'node:http'
import { negotiate } from '../http/accept.ts'
import { headersOf, read, statusOf } from '../http/exceptions.ts'
import { PAGE_POLICY } from '../http/html.ts'
import type { ErrorHandler, HttpRequest } from '../http/request.ts'
import { headerOf } from '../http/request-readers.ts'
import type { HttpResponse } from '../http/response.ts'
import { setUnchecked } from '../http/response-headers.ts'
import { formatIssue } from '../http/validation-error.ts'
import { issuesForClient, messageForClient } from '../reporting/client-message.ts'
import { jsonLine } from '../scrubbing/printable.ts'
import {
  type DevelopmentDetails,
  developmentFacts,
  developmentLines,
} from './development-details.ts'
import { developmentPage } from './development-page.ts'
import type { ErrorHooks, ErrorLink } from './error-hooks.ts'
import { type ErrorPage, errorPage } from './error-page.ts'

/** Returns the details that the response to a failed request shows in development. */
export type DetailsOf = (request: HttpRequest, exception: Error) => DevelopmentDetails

// The media types of the response. A client that accepts all of them, or none, gets the first one.
const OFFERS = ['application/problem+json', 'application/json', 'text/html', 'text/plain'] as const
type Offer = (typeof OFFERS)[number]

const SERVER_ERROR = 'The server failed to answer this request.'

/**
 * Creates the built-in controller `error`. Its action responds with the status of the exception, in
 * the media type that `Accept` asks for.
 *
 * @param detailsOf Returns the details that the response shows in development (default: none).
 * @param linkOf Returns the link that the response offers (default: none).
 */
export function createErrorController(
  detailsOf?: DetailsOf,
  linkOf?: ErrorHooks['linkOf'],
): {
  error(request: HttpRequest, response: HttpResponse): void
} {
  return {
    error(request, response) {
      const { errorHandler } = request
      if (errorHandler === undefined) throw new TypeError('Expected a request that failed')
      const { exception, request: original } = errorHandler
      response.status = statusOf(exception)
      for (const [name, value] of Object.entries(headersOf(exception))) {
        response.headers.set(name, value)
      }
      setSafeHeaders(response)
      setUnchecked(response.headers, 'Vary', 'Accept')
      const link = linkOf?.(original, exception)
      // Creates the details before the page: they need the stack, and an exception is searched once, with or without
      // it.
      const details = detailsOf?.(original, exception)
      const page = pageOf(errorHandler, response.status, link)
      switch (offerFor(headerOf(request, 'accept') ?? '')) {
        case 'text/html':
          response.html(details ? developmentPage(page, details) : errorPage(page))
          setUnchecked(response.headers, 'Content-Security-Policy', PAGE_POLICY)
          break
        case 'text/plain':
          response.text(linesOf(page, details))
          break
        default:
          response.text(jsonLine(bodyOf(page, details)))
          setUnchecked(response.headers, 'Content-Type', 'application/problem+json')
      }
    },
  }
}

/** Fills in the fixed response to a failure of the error action. Runs no code of the application. */
export function failsafe(response: HttpResponse): HttpResponse {
  response.status = 500
  setSafeHeaders(response)
  response.text('Internal Server Error\n')
  return response
}

// The format of RFC 9457, with `errors` as in the example of its section 3.
function bodyOf(page: ErrorPage, details: DevelopmentDetails | undefined): object {
  const { title, status, detail, issues = [], subject = 'parameter', id, link } = page
  const errors = issues.map(({ path, message }) => ({ [subject]: path, detail: message }))
  return {
    type: 'about:blank',
    title,
    status,
    detail,
    ...(id && { instance: `urn:uuid:${id}` }),
    ...(errors.length > 0 && { errors }),
    ...(link && { link }),
    ...(details && { development: developmentFacts(details) }),
  }
}

function linesOf(page: ErrorPage, details: DevelopmentDetails | undefined): string {
  const { status, title, detail, issues = [], id, link } = page
  const texts = issues.length > 0 ? issues.map(formatIssue) : [detail]
  const links = link === undefined ? [] : [`${link.text}: ${link.href}`]
  const ids = id === undefined ? [] : [`urn:uuid:${id}`]
  const facts = details ? ['', ...developmentLines(details)] : []
  return `${[`${status} ${title}`, ...texts, ...links, ...ids, ...facts].join('\n')}\n`
}

// The media types by `Accept`: clients send the same few headers, and parsing one takes 3 µs, a quarter of an unrouted request.
const offers = new Map<string, Offer>()
const MAX_OFFERS = 100
// The map has only headers that consist of usual media ranges: nothing else of a request may stay in memory.
const USUAL_RANGE =
  '(?:\\*|application|audio|image|text|video)/(?:[*]|(?:problem\\+)?json|(?:xhtml\\+|svg\\+)?xml|html|plain|css|' +
  'javascript|a?png|avif|webp|signed-exchange|event-stream)(?:;v=b3)?(?:; ?q=[01](?:\\.\\d)?)?'
const USUAL_ACCEPT = new RegExp(`^${USUAL_RANGE}(?:, ?${USUAL_RANGE}){0,15}$`)

function offerFor(accept: string): Offer {
  const known = offers.get(accept)
  if (known !== undefined) return known
  const offer = negotiate(accept, OFFERS)
  if (accept !== '' && !USUAL_ACCEPT.test(accept)) return offer
  if (offers.size >= MAX_OFFERS) offers.clear()
  offers.set(accept, offer)
  return offer
}

// A 5xx shows the client no details of the failure.
function pageOf(
  { id, exception, request: original }: ErrorHandler,
  status: number,
  link: ErrorLink | undefined,
): ErrorPage {
  const title = STATUS_CODES[status] ?? 'Error'
  if (status >= 500) return { status, title, detail: SERVER_ERROR, id, link }
  const issues = issuesForClient(exception, original)
  const detail = messageForClient(exception, original)
  const isField = issues.length > 0 && read(exception, 'subject') === 'field'
  return { status, title, detail, issues, subject: isField ? 'field' : 'parameter', id, link }
}

function setSafeHeaders({ headers }: HttpResponse): void {
  setUnchecked(headers, 'Cache-Control', 'no-store')
  setUnchecked(headers, 'Referrer-Policy', 'no-referrer')
  setUnchecked(headers, 'X-Content-Type-Options', 'nosniff')
}
