import { type HttpRequest, headerOf } from './request.ts'

// A parameter of a type, its value quoted or not (RFC 9110, section 5.6.6).
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))/g

/**
 * The media type of a body, in lower case and without its parameters; '' where the client tells none. It ends where
 * PHP has it end: at a semicolon, a comma or white space.
 */
export function mediaTypeOf(request: HttpRequest): string {
  const type = headerOf(request, 'content-type') ?? ''
  const [media = ''] = type.trim().split(/[;,\s]/, 1)
  return media.toLowerCase()
}

/** The charset that a body is declared to be in; undefined where none is. */
export function charsetOf(request: HttpRequest): string | undefined {
  const type = headerOf(request, 'content-type') ?? ''
  if (!type.includes(';')) return undefined
  for (const [, name = '', quoted, plain] of type.matchAll(PARAMETER)) {
    if (name.toLowerCase() === 'charset') return quoted || plain || undefined
  }
  return undefined
}

/** Whether a body is compressed: unpacked, a small one may be a huge one. */
export function isCompressed(request: HttpRequest): boolean {
  const coding = headerOf(request, 'content-encoding') ?? ''
  return !['', 'identity'].includes(coding.trim().toLowerCase())
}
