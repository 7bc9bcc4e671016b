import { nextRequest } from './controller.ts'
import type { HttpRequest } from './request.ts'
import type { HttpResponse } from './response.ts'
import { isPromiseLike, type Steps, wait } from './steps.ts'

/** What a plugin does at a moment. Another request that it returns takes the place of the one given. */
export type Moment = (
  request: HttpRequest,
  response: HttpResponse,
  // biome-ignore lint/suspicious/noConfusingVoidType: a moment that returns nothing is the common one.
) => void | HttpRequest | Promise<void | HttpRequest>

/** What takes part in every request, at the six moments that ZF1 knows. */
export interface Plugin {
  /** Before the request is rewritten and routed. */
  readonly routeStartup?: Moment
  /** After that: module, controller and action are known. */
  readonly routeShutdown?: Moment
  /** Before the loop goes round for the first time; the form has been read. */
  readonly dispatchLoopStartup?: Moment
  /** Before each dispatch, that of the error action included; a request it returns is dispatched instead. */
  readonly preDispatch?: Moment
  /** After each dispatch that did not fail; a request it returns is dispatched next. */
  readonly postDispatch?: Moment
  /** After the last round; a request it returns comes too late. */
  readonly dispatchLoopShutdown?: Moment
}

/** Holds a promise to the limit of time. */
export type Within = <T>(request: HttpRequest, promise: PromiseLike<T>) => Promise<T>

/** Tells the plugins of one request about its moments, in the order they were given. */
export class PluginBroker {
  #plugins: readonly Plugin[]
  readonly #within: Within

  constructor(plugins: readonly Plugin[], within: Within) {
    this.#plugins = plugins
    this.#within = within
  }

  /** @returns The request that a plugin put in place of the given one, or the given one. */
  *notify(moment: keyof Plugin, request: HttpRequest, response: HttpResponse): Steps<HttpRequest> {
    let current = request
    for (const plugin of this.#plugins) {
      try {
        const returned = plugin[moment]?.(current, response)
        const next = isPromiseLike(returned)
          ? yield* wait(this.#within(current, returned))
          : returned
        current = nextRequest(next, moment) ?? current
      } catch (thrown) {
        // It sits out the rest: a plugin that refuses every request must not refuse the error action too.
        this.#plugins = this.#plugins.filter((other) => other !== plugin)
        throw thrown
      }
    }
    return current
  }
}
