import type { IncomingMessage, ServerResponse } from 'node:http'
import { isPromiseLike } from '../http/async.ts'
import { isObject } from '../http/check-options.ts'
import type { Connection } from './connection.ts'
import { pairsOf } from './incoming-request.ts'
import type { Head } from './response-writer.ts'

/**
 * A connect-style middleware, such as `helmet()` or `compression()`. It responds itself, or calls `next()`, or `next(error)`.
 */
export type BeforeMiddleware = {
  // A method, because TypeScript then accepts parameters of narrower types, such as those of Express.
  /** Responds, or calls `next()`. */
  call(message: IncomingMessage, out: ServerResponse, next: (error?: unknown) => void): unknown
}['call']

/**
 * Returns the middlewares of the option `before`; undefined if there are none.
 *
 * @throws {TypeError} If it is not a list of functions.
 */
export function checkedBefore(
  before: readonly BeforeMiddleware[] | undefined,
): readonly BeforeMiddleware[] | undefined {
  if (before === undefined) return undefined
  if (!Array.isArray(before) || before.some((each) => typeof each !== 'function')) {
    throw new TypeError('Expected "before" to be a list of middlewares: functions (req, res, next)')
  }
  return before.length === 0 ? undefined : [...before]
}

/**
 * Watches the head that a middleware writes, also one that it writes implicitly.
 *
 * @param connection Learns whether the response ends it.
 * @param isLast Whether the response must end the connection. A middleware may set `Connection` itself, as http-proxy does.
 * @returns A function that ends this, for a response of the handler.
 * @internal
 */
export function watchHead(out: Head, connection: Connection, isLast: () => boolean): () => void {
  const { writeHead } = out
  const watched = (...args: unknown[]): Head => {
    Reflect.apply(writeHead, out, isLast() ? withClose(out, args) : args)
    if (out._last) connection.hasLastRequest = true
    return out
  }
  out.writeHead = watched
  return () => {
    // A middleware may have replaced it. Does not delete the property, which takes 2 µs.
    if (out.writeHead === watched) out.writeHead = writeHead
  }
}

// Returns the arguments of writeHead() for a head with `Connection: close`. Sets no header if there is an object or a list of headers:
// Node 20 would then drop all but one of the same name.
function withClose(out: ServerResponse, args: readonly unknown[]): readonly unknown[] {
  const at = args.findIndex(isObject)
  if (at < 0) {
    out.setHeader('Connection', 'close')
    return args
  }
  out.removeHeader('Connection')
  const headers = args[at] as object
  const entries = Array.isArray(headers) ? headers : Object.entries(headers).flat()
  const pairs = Array.isArray(entries[0]) ? entries : pairsOf(entries)
  const others = pairs.filter(([name]) => !/^connection$/i.test(String(name)))
  return args.with(at, [...others.flat(), 'Connection', 'close'])
}

/**
 * Calls middlewares in order, each when the one before it calls `next()`.
 *
 * @param done Called when the last one calls `next()`, unless a response has begun.
 * @param fail Called with the error of `next(error)`, of a throw, of a rejected promise or of the response.
 */
export function runBefore(
  before: readonly BeforeMiddleware[],
  message: IncomingMessage,
  out: ServerResponse,
  done: () => void,
  fail: (error: unknown) => void,
): void {
  // A middleware may write after the end of the response.
  out.on('error', fail)
  const run = (i: number): void => {
    const middleware = before[i]
    if (out.headersSent || out.writableEnded) return
    if (middleware === undefined) {
      done()
      return
    }
    let isCalled = false
    const next = (error?: unknown): void => {
      if (isCalled) return
      isCalled = true
      if (error) fail(error)
      else run(i + 1)
    }
    // A middleware may also throw after it has called next().
    try {
      const returned = middleware(message, out, next)
      if (isPromiseLike(returned)) returned.then(undefined, fail)
    } catch (error) {
      fail(error)
    }
  }
  run(0)
}
