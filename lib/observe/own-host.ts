import { isIP } from 'node:net'

// Names that no public DNS has: by RFC 6761, ICANN's reservation of .internal, and the default of Kubernetes.
const PRIVATE = /(?:^|\.)(?:localhost|internal|cluster\.local)$/

/**
 * Reports whether a `Host` may be that of an operator's server: an address, the configured host, or a name that no public
 * DNS has. A page of a browser whose name was rebound to the address of the server has its own public name.
 *
 * @param host The header `Host`; undefined if there is none. Every browser sends one.
 */
export function isOwnHost(host: string | undefined, configured: string): boolean {
  if (host === undefined) return true
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
  return (
    !name.includes('.') ||
    isIP(name) !== 0 ||
    PRIVATE.test(name) ||
    name === configured.toLowerCase()
  )
}
