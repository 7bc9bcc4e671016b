import { tooLarge } from './body.ts'
import { rejectionWith } from './errors.ts'
import { isReserved } from './params.ts'
import { type HttpRequest, stateOf } from './request.ts'

// Matches a parameter of a media type. Its value may be quoted (RFC 9110, section 5.6.6).
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))/g

/** Returns the merged parameters without the reserved names. The client sent all of them. */
export function clientParamsOf(request: HttpRequest): ReadonlyMap<string, string> {
  return new Map([...stateOf(request).params].filter(([name]) => !isReserved(name)))
}

/** Returns a header by its lower-case name, without reading the others. */
export function headerOf(request: HttpRequest, name: string): string | undefined {
  return stateOf(request).message.header(name)
}

/**
 * Returns the media type of a body, in lower case and without parameters; '' if the client sent none.
 * As in PHP, it ends at a semicolon, a comma or white space.
 */
export function mediaTypeOf(request: HttpRequest): string {
  const type = headerOf(request, 'content-type') ?? ''
  const [media = ''] = type.trim().split(/[;,\s]/, 1)
  return media.toLowerCase()
}

/** Returns the declared charset of a body; undefined if there is none. */
export function charsetOf(request: HttpRequest): string | undefined {
  const type = headerOf(request, 'content-type') ?? ''
  if (!type.includes(';')) return undefined
  const parameters = [...type.matchAll(PARAMETER)]
  const charset = parameters.find(([, name = '']) => name.toLowerCase() === 'charset')
  return charset?.[2] || charset?.[3] || undefined
}

/** Reports whether a body is compressed. A small compressed body may decompress to a huge one. */
export function isCompressed(request: HttpRequest): boolean {
  const coding = headerOf(request, 'content-encoding') ?? ''
  return !['', 'identity'].includes(coding.trim().toLowerCase())
}

/**
 * Checks a body before it is read. `problem` says what is wrong with its type.
 *
 * @throws {HttpError} 415 with the problem; 413 if the declared length is past the limit.
 */
export function checkBody(
  request: HttpRequest,
  problem: string | undefined,
  maxBytes: number,
): void {
  if (problem !== undefined) throw rejectionWith(415, problem)
  if (stateOf(request).message.isDeclaredLonger(maxBytes)) throw tooLarge(maxBytes)
}
