import { readBody, tooLarge } from './body.ts'
import { charsetOf, isCompressed, mediaTypeOf } from './content-type.ts'
import { HttpError } from './errors.ts'
import { isPromiseLike } from './is-promise-like.ts'
import { FormBody } from './message.ts'
import { exceedsFields } from './params.ts'
import { type HttpRequest, headerOf, isDeclaredLonger, stateOf, withState } from './request.ts'

/** How large a form may be. */
export interface FormLimits {
  /** Bytes of a body (default 1,048,576). */
  readonly maxBodyBytes: number
  /** Fields of a form, parameters of a query, pairs of a path, each (default 1,000). */
  readonly maxFields: number
}

const FORM = 'application/x-www-form-urlencoded'

/** Whether a request brings a form: a POST of `application/x-www-form-urlencoded`. */
export function hasFormBody(request: HttpRequest): boolean {
  if (request.method !== 'POST') return false
  // As nearly all clients write it.
  return headerOf(request, 'content-type') === FORM || mediaTypeOf(request) === FORM
}

/** Whether a request brings a form that has not been read. */
export function needsForm(request: HttpRequest): boolean {
  if (!hasFormBody(request)) return false
  const { form, errorHandler } = stateOf(request)
  // Of a message whose framing is in doubt, nobody can say where its body is.
  return form === undefined && errorHandler === undefined && !request.rejection
}

/** The request with its form. */
export function withForm(request: HttpRequest, form: FormBody): HttpRequest {
  return withState(request, { form })
}

/**
 * Reads a form body within its limits: at once where all of it is there, else by a promise. A body of any
 * other type is left for the action to read.
 *
 * @throws {HttpError} 413 at the first chunk past the limit, at once where the declared length is
 * past it, and for too many fields; 415 for a charset other than UTF-8 and for a compressed body.
 */
export function readFormBody(
  request: HttpRequest,
  limits: FormLimits,
): FormBody | Promise<FormBody> {
  const rejection = unsupported(request)
  if (rejection !== undefined) throw new HttpError(415, rejection)
  if (isDeclaredLonger(request, limits.maxBodyBytes)) throw tooLarge(limits.maxBodyBytes)
  const bytes = readBody(stateOf(request).message.body, limits.maxBodyBytes)
  return isPromiseLike(bytes) ? bytes.then((read) => toForm(read, limits)) : toForm(bytes, limits)
}

function toForm(bytes: Buffer, { maxFields }: FormLimits): FormBody {
  // A body of fewer bytes has fewer fields: most are not even looked at.
  if (bytes.length > 2 * maxFields && exceedsFields(bytes.toString('latin1'), maxFields)) {
    throw new HttpError(413, `The form has more than ${maxFields} fields`)
  }
  return new FormBody(bytes)
}

function unsupported(request: HttpRequest): string | undefined {
  if (isCompressed(request)) return 'A form body must not be compressed'
  const charset = charsetOf(request)
  return charset === undefined || /^utf-?8$/i.test(charset)
    ? undefined
    : 'A form body must be in UTF-8'
}
