import { decodePercent } from '../http/params.ts'

const MAX_BYTES = 1_024

// Matches the controls beyond ASCII too.
const CONTROL = /\p{Cc}/u

/**
 * Returns the path to continue at after a sign-in; `/` in place of anything that could lead to another origin.
 *
 * A browser reads `//host` and `/\host` as another host, and it removes tabs and line breaks before it does.
 */
export function continuePath(value: unknown): string {
  // Rejects a long text before it is encoded, which never makes it shorter: a form may have a text of 1 MB, which takes 0.1 s.
  if (typeof value !== 'string' || value.length > MAX_BYTES || !isOwnPath(value)) return '/'
  const [path = ''] = value.split(/[?#]/, 1)
  if (!isOwnPath(decodePercent(path))) return '/'
  const encoded = value.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent)
  return encoded.length <= MAX_BYTES ? encoded : '/'
}

function isOwnPath(text: string): boolean {
  if (!/^\/(?!\/)/.test(text) || text.includes('\\') || CONTROL.test(text)) return false
  // A proxy or a client that removes the dot segments of `/..//host` would read another host.
  return !new URL(text, 'http://localhost').pathname.startsWith('//')
}
