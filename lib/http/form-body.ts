import { isPromiseLike } from './async.ts'
import { FormBody, readBody } from './body.ts'
import { rejectionWith } from './errors.ts'
import { exceedsFields } from './params.ts'
import { type HttpRequest, stateOf } from './request.ts'
import { charsetOf, checkBody, headerOf, isCompressed, mediaTypeOf } from './request-readers.ts'

/** The limits of a form, and of the number of parameters. */
export interface FormLimits {
  /** Maximum bytes of a body (default 1,048,576). */
  readonly maxBodyBytes: number
  /** Maximum fields of a form, parameters of a query, or pairs of a path (default 1,000). */
  readonly maxFields: number
}

const FORM = 'application/x-www-form-urlencoded'

/** Reports whether a request has a form: it is a POST of `application/x-www-form-urlencoded`. */
export function hasFormBody(request: HttpRequest): boolean {
  if (request.method !== 'POST') return false
  // The first comparison is the fast path: nearly all clients send exactly this.
  return headerOf(request, 'content-type') === FORM || mediaTypeOf(request) === FORM
}

/** Reports whether a request has a form that must still be read. */
export function needsForm(request: HttpRequest): boolean {
  if (!hasFormBody(request)) return false
  const { form, errorHandler } = stateOf(request)
  // A message with ambiguous framing is rejected: the start of its body is unknown.
  return form === undefined && errorHandler === undefined && !request.rejection
}

/**
 * Reads a form body within its limits. A body of any other type stays unread, for the action.
 *
 * @returns The form if all of the body is available, else a promise of it.
 * @throws {HttpError} 413 at the first chunk past the limit; 413 before any chunk is read if the declared length
 * is past the limit; 413 for too many fields; 415 for a charset other than UTF-8 and for a compressed body.
 */
export function readFormBody(
  request: HttpRequest,
  limits: FormLimits,
): FormBody | Promise<FormBody> {
  const { message } = stateOf(request)
  checkBody(request, problemOf(request), limits.maxBodyBytes)
  const bytes = readBody(message.unreadBody, limits.maxBodyBytes)
  return isPromiseLike(bytes) ? bytes.then((read) => toForm(read, limits)) : toForm(bytes, limits)
}

function toForm(bytes: Buffer, { maxFields }: FormLimits): FormBody {
  // A field and its delimiter take two bytes or more, so a short body need not be decoded and counted.
  if (bytes.length > 2 * maxFields && exceedsFields(bytes.toString('latin1'), maxFields)) {
    throw rejectionWith(413, `The form has more than ${maxFields} fields`)
  }
  return new FormBody(bytes)
}

function problemOf(request: HttpRequest): string | undefined {
  if (isCompressed(request)) return 'A form body must not be compressed'
  const charset = charsetOf(request) ?? 'utf-8'
  return /^utf-?8$/i.test(charset) ? undefined : 'A form body must be in UTF-8'
}
