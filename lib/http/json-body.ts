import { readBody, tooLarge } from './body.ts'
import { isCompressed, mediaTypeOf } from './content-type.ts'
import { HttpError } from './errors.ts'
import { type HttpRequest, isDeclaredLonger } from './request.ts'

/** How a JSON body is read. */
export interface JsonOptions {
  /** The most bytes to read (default, and at most: the limit of the front controller). */
  readonly maxBytes?: number | undefined
}

/**
 * Reads the body as JSON: `application/json`, or a type that ends in `+json`. Ask once: a body comes in once.
 *
 * @example
 * const article = await readJson(request)
 * @throws {HttpError} 415 for another type, and for a compressed body; 413 past the limit; 400 for what
 * is no JSON in UTF-8, without a word of it.
 */
export async function readJson(request: HttpRequest, options: JsonOptions = {}): Promise<unknown> {
  const { maxBytes = Number.POSITIVE_INFINITY } = options
  const rejection = unsupported(request)
  if (rejection !== undefined) throw new HttpError(415, rejection)
  if (isDeclaredLonger(request, maxBytes)) throw tooLarge(maxBytes)
  return parse(await readBody(request.body, maxBytes))
}

function unsupported(request: HttpRequest): string | undefined {
  if (!/^(?:application\/json|[^\s/]+\/[^\s/]+\+json)$/.test(mediaTypeOf(request))) {
    return 'Expected a body of the type application/json'
  }
  return isCompressed(request) ? 'A JSON body must not be compressed' : undefined
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // Not as its cause: V8 quotes what it could not parse.
    throw new HttpError(400, 'The body is not valid JSON')
  }
}
