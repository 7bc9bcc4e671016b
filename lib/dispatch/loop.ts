import { Readable } from 'node:stream'
import { checkReturned } from '../controllers/controller.ts'
import { failsafe } from '../controllers/error-controller.ts'
import { isPromiseLike } from '../http/async.ts'
import type { FormBody } from '../http/body.ts'
import { HttpError } from '../http/errors.ts'
import { toError } from '../http/exceptions.ts'
import { type FormLimits, needsForm, readFormBody } from '../http/form-body.ts'
import { type HttpRequest, isRequest, stateOf, withState } from '../http/request.ts'
import { HttpResponse, responseLifecycle } from '../http/response.ts'
import { channels, traced } from '../reporting/diagnostics.ts'
import type { Admission } from '../reporting/reporter.ts'
import { claim } from '../reporting/scrubbed-exception.ts'
import type { RequestRouter } from '../routing/request-router.ts'
import { Deadlines } from './deadlines.ts'
import type { Dispatcher } from './dispatcher.ts'
import { toErrorRequest } from './error-request.ts'
import { waitForFirstBytes } from './first-bytes.ts'
import type { Plugin } from './plugin.ts'
import type { RegisteredAction } from './registered-controller.ts'
import { type Steps, wait } from './steps.ts'

/** The state of the loop for one request. The stages replace the request and fill in the response. */
export interface LoopState {
  request: HttpRequest
  response: HttpResponse
  /** Number of dispatches so far. An error starts the count again. */
  dispatches: number
  /** The decision about the report of the first exception. */
  admission?: Admission
  /** The plugin that threw. At most one: after the second exception of a request, no hook is called. */
  failedPlugin?: Plugin
}

/** Settles as a promise does, or rejects with a 503 if the promise is still pending after the limit (default `actionTimeoutMs`). */
export type WithDeadline = <T>(
  request: HttpRequest,
  promise: PromiseLike<T>,
  limitMs?: number,
) => Promise<T>

/** Decides about the report of an exception. */
export type Admit = (request: HttpRequest, exception: Error) => Admission

/**
 * The outcome of a dispatch: the response or undefined at the end of the request, a request to dispatch next, or the
 * error if there is no such action.
 */
export type Outcome = HttpResponse | HttpRequest | Error | undefined

/** The outcome of the preparation: the response if a hook has ended the request. */
export type Prepared = HttpResponse | undefined

/** The stages of the loop, with or without plugins. */
export type Stages = Pick<RequestStages, 'prepare' | 'dispatch' | 'finish'>

// Ends a circle of forwards.
const MAX_DISPATCHES = 16

/**
 * Runs the loop for one request, in these stages:
 *
 *   prepare     routes the target to path and `q`, then to module, controller, action and pairs; reads a POSTed form
 *   check       throws for a rejected request, and for a circle of forwards
 *   dispatch    finds the action in its controller, and calls it
 *   finish      waits for the first bytes of a streamed body; the response is then complete
 *   forward     starts again, with the request that the action returned
 *   error       starts again, with `error/error`, the first time that a stage above fails; the reporter first decides
 *               whether the log will have the error, because the response shows the id only then
 *
 * @returns The last request, and the response.
 */
export function* runLoop(request: HttpRequest, stages: Stages, admit: Admit): Steps<LoopState> {
  const loop: LoopState = { request, response: new HttpResponse(), dispatches: 0 }
  for (;;) {
    let exception: Error
    try {
      loop.dispatches++
      const prepared = stages.prepare(loop)
      const ended = isPromiseLike(prepared) ? yield* wait(prepared) : prepared
      check(loop)
      const outcome = ended ?? stages.dispatch(loop)
      const next = isPromiseLike(outcome) ? yield* wait(outcome) : outcome
      if (next === undefined || next === loop.response) {
        const finished = stages.finish(loop)
        if (isPromiseLike(finished)) yield* wait(finished)
        return loop
      }
      if (isRequest(next)) {
        loop.request = next
        continue
      }
      exception = next as Error
    } catch (thrown) {
      exception = toError(thrown)
      late.get(exception)?.abort(exception)
    }
    stateOf(loop.request).message.hideCookies(loop.response.headers)
    loop.response = responseLifecycle.reset(loop.response, exception, loop.request)
    // An error of the error action is not dispatched again.
    if (loop.response.exceptions.length > 1) {
      failsafe(loop.response)
      return loop
    }
    loop.admission = admit(loop.request, exception)
    loop.request = toErrorRequest(loop.request, exception, loop.admission.id)
    loop.dispatches = 0
  }
}

// The controller that the loop aborts when it catches the error of a time limit. The timer does not abort it: the listeners
// would run outside of the context of their request.
const late = new WeakMap<Error, AbortController>()

// Claims a later rejection for the request, because another request may await the same promise. Takes only the id: a closure
// over the request would keep it in memory while the promise hangs.
function claimLate(promise: PromiseLike<unknown>, id: string): void {
  promise.then(undefined, (exception) => claim([exception], { id, controller: '' }))
}

// Runs after the form is read, so the error action of a rejected request can read the form.
function check({ request, dispatches }: LoopState): void {
  const { rejection } = stateOf(request)
  if (rejection !== undefined && request.errorHandler === undefined) throw rejection
  if (dispatches > MAX_DISPATCHES) throw new Error(`More than ${MAX_DISPATCHES} dispatches`)
}

/** Options of {@link RequestStages}. */
export interface StageOptions {
  readonly router: RequestRouter
  readonly dispatcher: Dispatcher
  readonly limits: FormLimits & { readonly actionTimeoutMs: number }
  /** Runs an action (default: the dispatcher does). */
  readonly runAction?: Dispatcher['run'] | undefined
}

/** The stages of the loop without plugins. Each returns a promise only if it has to wait. */
export class RequestStages {
  readonly #options: StageOptions
  readonly #runAction: Dispatcher['run']
  // One for each limit: that of the front controller, and those of actions.
  readonly #deadlines = new Map<number, Deadlines>()
  // Most applications have no limits of single actions, and need not look them up.
  readonly #hasActionLimits: boolean

  constructor(options: StageOptions) {
    const { dispatcher, runAction } = options
    this.#options = options
    this.#runAction = runAction ?? ((...args) => dispatcher.run(...args))
    this.#hasActionLimits = dispatcher.actions.some(({ limits }) => limits !== undefined)
  }

  /** Routes the request, and reads its form. */
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

  /** Calls the action. */
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
    const returned = this.#runAction(action, request, response)
    if (!isPromiseLike(returned)) return end(returned)
    return this.withDeadline(request, returned, action.limits?.timeoutMs).then(end)
  }

  /** Waits for the first bytes of a streamed body. If it fails before them, the error action can still respond. */
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
      late.set(timeout, cancellation)
      return timeout
    })
  }

  #deadlinesFor(limitMs: number): Deadlines {
    const deadlines = this.#deadlines.get(limitMs) ?? new Deadlines(limitMs)
    this.#deadlines.set(limitMs, deadlines)
    return deadlines
  }
}
