import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { versions } from 'node:process'
// Imported, because a test may replace the global function, and would never call this.
import { setImmediate } from 'node:timers'
import { isObject } from './check-options.ts'

/**
 * Calls a function without the stores of `AsyncLocalStorage` of the current request. Use it to create what several requests
 * share: a timer or a promise would keep the stores of one request in memory, and a timer would call the code of other
 * requests with them.
 */
export const outsideRequests: <T>(call: () => T) => T = AsyncLocalStorage.snapshot()

/**
 * Returns a function that calls another one with the stores of `AsyncLocalStorage` that are set now. A function that
 * `AsyncResource.bind()` returns takes 2.8 kB.
 */
export function inThisContext(call: () => void): () => void {
  const context = new AsyncResource('portico')
  return () => context.runInAsyncScope(call)
}

// Before Node 24, a store that is entered is a property of the resource that runs: for a message, that of its connection.
const areStoresShared = Number.parseInt(versions.node, 10) < 24
let areIsolated = false

/** Lets each request that begins later run in a context of its own, because a hook or a middleware may enter a store. */
export function isolateRequests(): void {
  areIsolated = areStoresShared
}

/**
 * Calls a function in a context of its own after {@link isolateRequests}. Not always, because it takes 4 % of the instructions of W1
 * (node bench/instructions.js --node 20 portico-plugin).
 */
export function isolated(call: () => void): void {
  if (areIsolated) inThisContext(call)()
  else call()
}

const NOTHING = /^/

/**
 * Makes V8 forget the text that a regular expression has matched last: it may be a part of the target, which it would keep in
 * memory until the next match.
 */
export function forgetLastMatch(): void {
  NOTHING.test('')
}

let isScheduled = false

/** Calls {@link forgetLastMatch} once for all responses that end in this turn of the event loop. The process stays alive until then. */
export function forgetLastMatchSoon(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(() => {
    isScheduled = false
    forgetLastMatch()
  })
}

/** Copies a well-formed text: in V8, a part of a string keeps the whole string, such as the target, in memory. */
export function copyOf(text: string): string {
  return Buffer.from(text).toString()
}

/** Copies data with all its texts. The copy keeps no part of a request in memory. */
export function copied<T>(data: T): T {
  if (typeof data === 'string') return copyOf(data) as T
  if (!isObject(data)) return data
  if (Array.isArray(data)) return data.map(copied) as T
  const copy = Object.create(Object.getPrototypeOf(data))
  for (const [name, value] of Object.entries(data)) copy[name] = copied(value)
  return copy
}

/**
 * Removes the request and the response from an object that nobody reads any more, but to which a generator or a closure refers. An
 * exception keeps its frames until its stack is read; the frame of a generator keeps its arguments, and that of a closure its outer
 * variables. So each exception in a cache of the application would keep a request.
 */
export function release(holder: { request: unknown; response: unknown }): void {
  holder.request = undefined
  holder.response = undefined
}
