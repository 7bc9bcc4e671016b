import { checkReturned } from '../controllers/controller.ts'
import { isPromiseLike } from '../http/async.ts'
import type { HttpRequest } from '../http/request.ts'
import { type HttpResponse, isResponse } from '../http/response.ts'
import { isErrorRequest } from './error-request.ts'
import type { LoopState } from './loop.ts'
import type { Plugin } from './plugin.ts'
import type { WithDeadline } from './request-stages.ts'
import { type Steps, wait } from './steps.ts'

/** One of the six points of a request, with the plugins that have a hook for it, in their order. */
export class HookPoint {
  readonly #name: keyof Plugin
  readonly #plugins: readonly Plugin[]
  readonly #withDeadline: WithDeadline

  constructor(name: keyof Plugin, plugins: readonly Plugin[], withDeadline: WithDeadline) {
    this.#name = name
    this.#plugins = plugins.filter((plugin) => plugin[name] !== undefined)
    this.#withDeadline = withDeadline
  }

  /** Whether no plugin has a hook for this point. */
  get isEmpty(): boolean {
    return this.#plugins.length === 0
  }

  /**
   * Calls the hooks, one after the other.
   *
   * @returns The request that the last hook returned, that of the loop if no hook returned one; the response as soon as a
   * hook returns it.
   */
  *notify(loop: LoopState): Steps<HttpRequest | HttpResponse> {
    const { response } = loop
    let current = loop.request
    // By index: in a generator, `for ... of` calls the iterator, 160 instructions for each plugin.
    for (let i = 0; i < this.#plugins.length; i++) {
      const plugin = this.#plugins[i] as Plugin
      // A plugin that rejects everything must not also reject the error action. Any other action still gets its hooks: the
      // error action may forward to one that the plugin protects.
      if (plugin === loop.failedPlugin && isErrorRequest(current)) continue
      try {
        const returned = plugin[this.#name]?.(current, response)
        const next = isPromiseLike(returned)
          ? yield* wait(this.#withDeadline(current, returned))
          : returned
        const checked = checkReturned(next, this.#name, { request: current, response })
        if (isResponse(checked)) return checked
        current = checked ?? current
      } catch (thrown) {
        loop.failedPlugin = plugin
        throw thrown
      }
    }
    return current
  }
}
