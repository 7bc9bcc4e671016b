import { readBody } from '../http/body.ts'
import { checkNames } from '../http/check-options.ts'
import { rejectionWith } from '../http/errors.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { checkBody, isCompressed, mediaTypeOf } from '../http/request-readers.ts'

/** Options of {@link readJson}. */
export interface JsonOptions {
  /** Maximum bytes (default and maximum: the limit of the front controller). */
  readonly maxBytes?: number | undefined
}

/**
 * Reads and parses a JSON body: `application/json`, or a type that ends in `+json`.
 *
 * @throws {HttpError} 415 for another type or a compressed body; 413 past the limit; 400 if the body
 * is not JSON in UTF-8. The message holds no text of the body.
 * @throws {TypeError} If an option is unknown.
 */
export async function readJson(request: HttpRequest, options: JsonOptions = {}): Promise<unknown> {
  checkNames('options', options, ['maxBytes'])
  const { maxBytes = Number.POSITIVE_INFINITY } = options
  const { message } = stateOf(request)
  checkBody(request, problemOf(request), maxBytes)
  const bytes = await readBody(request.body, maxBytes)
  const value = parse(bytes)
  // Keeps the bytes for the reports, which search for the values: the action may change the object.
  message.json = bytes
  return value
}

function problemOf(request: HttpRequest): string | undefined {
  if (!/^(?:application\/json|[^\s/]+\/[^\s/]+\+json)$/.test(mediaTypeOf(request))) {
    return 'Expected a body of the type application/json'
  }
  return isCompressed(request) ? 'A JSON body must not be compressed' : undefined
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // The SyntaxError is not the cause of this one: its message quotes the text that V8 could not parse.
    throw rejectionWith(400, 'The body is not valid JSON')
  }
}
