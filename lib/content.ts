import { type HttpRequest, headerOf } from './request.ts'

/** The media type of a body, in lower case and without its parameters; '' where the client tells none. */
export function mediaTypeOf(request: HttpRequest): string {
  const type = headerOf(request, 'content-type') ?? ''
  const end = type.indexOf(';')
  return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase()
}

/** The charset that a body is declared to be in; undefined where none is. */
export function charsetOf(request: HttpRequest): string | undefined {
  const type = headerOf(request, 'content-type') ?? ''
  return type.includes(';') ? /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1] : undefined
}

/** Whether a body is compressed: unpacked, a small one may be a huge one. */
export function isCompressed(request: HttpRequest): boolean {
  const coding = headerOf(request, 'content-encoding')
  return coding !== undefined && coding.toLowerCase() !== 'identity'
}
