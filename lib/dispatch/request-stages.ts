import { Readable } from 'node:stream'
import { checkReturned } from '../controllers/controller.ts'
import { isPromiseLike } from '../http/async.ts'
import type { FormBody } from '../http/body.ts'
import { HttpError } from '../http/errors.ts'
import { type FormLimits, needsForm, readFormBody } from '../http/form-body.ts'
import { type HttpRequest, stateOf, withState } from '../http/request.ts'
import { channels, traced } from '../reporting/diagnostics.ts'
import { claim } from '../reporting/ownership.ts'
import type { RequestRouter } from '../routing/request-router.ts'
import { Deadlines } from './deadlines.ts'
import type { Dispatcher } from './dispatcher.ts'
import { waitForFirstBytes } from './first-bytes.ts'
import {
  abortWhenCaught,
  type LoopState,
  type Outcome,
  type Prepared,
  type Stages,
} from './loop.ts'
import type { RegisteredAction } from './registered-controller.ts'

/** Settles as a promise does, or rejects with a 503 if the promise is still pending after the limit (default `actionTimeoutMs`). */
export type WithDeadline = <T>(
  request: HttpRequest,
  promise: PromiseLike<T>,
  limitMs?: number,
) => Promise<T>

/** Options of {@link RequestStages}. */
export interface StageOptions {
  readonly router: RequestRouter
  readonly dispatcher: Dispatcher
  readonly limits: FormLimits & { readonly actionTimeoutMs: number }
}

/** The stages of the loop without plugins. */
export class RequestStages implements Stages {
  readonly #options: StageOptions
  // One for each limit: that of the front controller, and those of actions.
  readonly #deadlines = new Map<number, Deadlines>()
  // Most applications have no limits of single actions, and need not look them up.
  readonly #hasActionLimits: boolean

  constructor(options: StageOptions) {
    this.#options = options
    this.#hasActionLimits = options.dispatcher.actions.some(({ limits }) => limits !== undefined)
  }

  prepare(loop: LoopState): Prepared | Promise<Prepared> {
    loop.request = this.#options.router.route(loop.request)
    const limits = this.#hasActionLimits ? this.#applyLimits(loop) : this.#options.limits
    if (!needsForm(loop.request)) return undefined
    const setForm = (form: FormBody): Prepared => {
      loop.request = withState(loop.request, { form })
      stateOf(loop.request).message.form = form
      return undefined
    }
    const form = readFormBody(loop.request, limits)
    return isPromiseLike(form) ? form.then(setForm) : setForm(form)
  }

  // Returns the limits of the form, and sets the limit of any other body. Each forward uses the limits of its own
  // action.
  #applyLimits(loop: LoopState): FormLimits {
    const found = this.#options.dispatcher.find(loop.request)
    const own = found instanceof Error ? undefined : found.limits
    const limits = { ...this.#options.limits, ...own }
    const { maxBodyBytes } = limits
    if (stateOf(loop.request).maxBodyBytes !== maxBodyBytes) {
      loop.request = withState(loop.request, { maxBodyBytes })
    }
    return limits
  }

  dispatch(loop: LoopState): Outcome | Promise<Outcome> {
    const { request, response } = loop
    const { dispatcher } = this.#options
    const found = dispatcher.find(request)
    if (found instanceof Error) {
      const hooks = dispatcher.findHooks(request)
      return hooks === undefined ? found : this.#call(hooks, loop)
    }
    if (!channels.dispatch.hasSubscribers) return this.#call(found, loop)
    return traced(request, response, () => this.#call(found, loop))
  }

  #call(action: RegisteredAction, loop: LoopState): Outcome | Promise<Outcome> {
    const { request, response } = loop
    const end = (returned: unknown): Outcome => checkReturned(returned, 'The action', loop)
    const returned = this.#options.dispatcher.run(action, request, response)
    if (!isPromiseLike(returned)) return end(returned)
    return this.withDeadline(request, returned, action.limits?.timeoutMs).then(end)
  }

  finish({ response: { body } }: LoopState): void | Promise<void> {
    return body instanceof Readable ? waitForFirstBytes(body) : undefined
  }

  readonly withDeadline: WithDeadline = (
    request,
    thenable,
    limitMs = this.#options.limits.actionTimeoutMs,
  ) => {
    // A thenable may do its work again with each call of then(), or throw.
    const promise = Promise.resolve(thenable)
    return this.#deadlinesFor(limitMs).within(promise, () => {
      const { cancellation, message } = stateOf(request)
      const [status, what] = message.source.awaitsBody ? [408, 'whole request'] : [503, 'response']
      const timeout = new HttpError(status, `No ${what} within ${limitMs} milliseconds`)
      claimLate(promise, request.id)
      abortWhenCaught(timeout, cancellation)
      return timeout
    })
  }

  #deadlinesFor(limitMs: number): Deadlines {
    const deadlines = this.#deadlines.get(limitMs) ?? new Deadlines(limitMs)
    this.#deadlines.set(limitMs, deadlines)
    return deadlines
  }
}

// Claims a later rejection for the request, because another request may await the same promise. Takes only the id: a closure
// over the request would keep it in memory while the promise hangs.
function claimLate(promise: PromiseLike<unknown>, id: string): void {
  promise.then(undefined, (exception) => claim([exception], { id, controller: '' }))
}
