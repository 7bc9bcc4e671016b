import { isPromiseLike } from '../http/is-promise-like.ts'
import { stateOf } from '../http/request.ts'
import { isResponse } from '../http/response.ts'
import type { RequestRouter } from '../routing/request-router.ts'
import type { LoopState, Outcome, Prepared, Stages } from './loop.ts'
import type { Plugin, PluginBroker } from './plugin.ts'
import { run, type Steps, wait } from './steps.ts'

/** The stages of one request with the hooks of the plugins around them. */
export class PluginStages implements Stages {
  readonly #inner: Stages
  readonly #router: RequestRouter
  readonly #broker: PluginBroker

  constructor(inner: Stages, router: RequestRouter, broker: PluginBroker) {
    this.#inner = inner
    this.#router = router
    this.#broker = broker
  }

  prepare(loop: LoopState): Prepared | Promise<Prepared> {
    return this.#broker.has('routeStartup', 'routeShutdown', 'dispatchLoopStartup')
      ? run(this.#prepare(loop))
      : this.#inner.prepare(loop)
  }

  dispatch(loop: LoopState): Outcome | Promise<Outcome> {
    return this.#broker.has('preDispatch', 'postDispatch')
      ? run(this.#dispatch(loop))
      : this.#inner.dispatch(loop)
  }

  finish(loop: LoopState): void | Promise<void> {
    return this.#broker.has('dispatchLoopShutdown')
      ? run(this.#finish(loop))
      : this.#inner.finish(loop)
  }

  *#prepare(loop: LoopState): Steps<Prepared> {
    if (stateOf(loop.request).route === undefined) {
      loop.request = this.#router.rewrite(loop.request)
      const ended = yield* this.#notify('routeStartup', loop)
      if (ended) return ended
      loop.request = this.#router.route(loop.request)
      const routed = yield* this.#notify('routeShutdown', loop)
      if (routed) return routed
    }
    yield* this.#prepareAgain(loop)
    if (loop.dispatches > 1 || loop.request.errorHandler !== undefined) return undefined
    const ended = yield* this.#notify('dispatchLoopStartup', loop)
    if (!ended) yield* this.#prepareAgain(loop)
    return ended
  }

  *#dispatch(loop: LoopState): Steps<Outcome> {
    const { request, response } = loop
    const replaced = yield* this.#broker.notify('preDispatch', request, response)
    if (replaced !== request) return replaced
    const outcome = this.#inner.dispatch(loop)
    const next = isPromiseLike(outcome) ? yield* wait(outcome) : outcome
    if (next instanceof Error) return next
    const after = yield* this.#broker.notify('postDispatch', request, response)
    return after === request ? next : after
  }

  *#finish(loop: LoopState): Steps<void> {
    // Ignores a request that this hook returns: nothing is dispatched after it.
    yield* this.#broker.notify('dispatchLoopShutdown', loop.request, loop.response)
    const finished = this.#inner.finish(loop)
    if (isPromiseLike(finished)) yield* wait(finished)
  }

  // A hook may have returned a request that is not routed yet, or whose form is not read yet.
  *#prepareAgain(loop: LoopState): Steps<void> {
    const prepared = this.#inner.prepare(loop)
    if (isPromiseLike(prepared)) yield* wait(prepared)
  }

  // Returns the response if a hook has ended the request.
  *#notify(hook: keyof Plugin, loop: LoopState): Steps<Prepared> {
    const next = yield* this.#broker.notify(hook, loop.request, loop.response)
    if (isResponse(next)) return next
    loop.request = next
    return undefined
  }
}
