import { monotonicMs } from '../http/clock.ts'
import type { Logger } from '../reporting/log.ts'

const WINDOW_MS = 60_000
const MAX_KINDS = 100
// The names and codes of Node. An application may emit any value as a name or a code.
const NAME =
  /^(?:Deprecation|Experimental|MaxListenersExceeded|PromiseRejectionHandled|Security|Timeout(?:NaN|Negative|Overflow)|UnhandledPromiseRejection|Unsupported)?Warning$/
const CODE = /^(?:[A-Z]{0,9}DEP\d{3,4}|MODULE_TYPELESS_PACKAGE_JSON)$/

/**
 * Logs the warnings of Node by name and code, such as `DeprecationWarning` and `DEP0170`, instead of printing
 * them: their messages may quote values of a request. Each kind is logged once a minute. With the flag
 * `--trace-warnings`, Node prints them too.
 */
export function logWarnings(logger: Logger): void {
  if (!process.execArgv.includes('--trace-warnings')) process.removeAllListeners('warning')
  const kinds = new Set<string>()
  let windowStart = monotonicMs()
  process.on('warning', (warning: Error & { readonly code?: unknown }) => {
    const name = ifMatching(warning.name, NAME) ?? 'Warning'
    const code = ifMatching(warning.code, CODE)
    const kind = code === undefined ? name : `${name} ${code}`
    if (monotonicMs() - windowStart > WINDOW_MS) {
      kinds.clear()
      windowStart = monotonicMs()
    }
    if (kinds.has(kind) || kinds.size >= MAX_KINDS) return
    kinds.add(kind)
    logger.warn({ event: 'node', name, code }, `Node warns: ${kind}`)
  })
}

function ifMatching(value: unknown, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined
}
