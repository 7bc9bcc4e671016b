import { Readable } from 'node:stream'
import { nextRequest } from '../controllers/controller.ts'
import { failsafe } from '../controllers/error-controller.ts'
import { HttpError } from '../http/errors.ts'
import { toError } from '../http/exceptions.ts'
import { type FormLimits, needsForm, readFormBody, withForm } from '../http/form-body.ts'
import { isPromiseLike } from '../http/is-promise-like.ts'
import type { FormBody } from '../http/message.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { HttpResponse, responseLifecycle } from '../http/response.ts'
import { channels, publish } from '../reporting/diagnostics.ts'
import type { RequestRouter } from '../routing/request-router.ts'
import { Deadlines } from './deadlines.ts'
import type { Dispatcher } from './dispatcher.ts'
import { toErrorRequest } from './error-request.ts'
import { waitForFirstBytes } from './first-bytes.ts'
import type { WithDeadline } from './plugin.ts'
import { type Steps, wait } from './steps.ts'

/** The state of the loop for one request; its stages replace the request and fill in the response. */
export interface LoopState {
  request: HttpRequest
  response: HttpResponse
  /** Dispatches of this request, counted again from its error. */
  dispatches: number
}

/** What a dispatch ends with: nothing, a request to dispatch next, or the error that there is no such action. */
export type Outcome = HttpRequest | Error | undefined

/** The stages of the loop, with or without plugins. */
export type Stages = Pick<RequestStages, 'prepare' | 'dispatch' | 'finish'>

// Ends forwards that go in a circle.
const MAX_DISPATCHES = 16

/**
 * The life of a request, in the order of the lines below:
 *
 *   prepare     route: target to path and `q`, to module, controller, action and pairs; form: a POSTed body, within limits
 *   check       a rejected request is not dispatched; neither is a circle of forwards
 *   dispatch    the controller from its Map, its action called
 *   finish      a streamed body has its first bytes; the response is complete
 *   forward     or again, with the request that the action returned
 *   error       or again, with `error/error`, once, whatever failed above
 *
 * @returns The last request, and the response.
 */
export function* live(request: HttpRequest, stages: Stages): Steps<LoopState> {
  const loop: LoopState = { request, response: new HttpResponse(), dispatches: 0 }
  for (;;) {
    let exception: Error
    try {
      loop.dispatches++
      const prepared = stages.prepare(loop)
      if (isPromiseLike(prepared)) yield* wait(prepared)
      check(loop)
      const outcome = stages.dispatch(loop)
      const next = isPromiseLike(outcome) ? yield* wait(outcome) : outcome
      if (next === undefined) {
        const finished = stages.finish(loop)
        if (isPromiseLike(finished)) yield* wait(finished)
        return loop
      }
      if (!(next instanceof Error)) {
        loop.request = next
        continue
      }
      exception = next
    } catch (thrown) {
      exception = toError(thrown)
    }
    loop.response = responseLifecycle.reset(loop.response, exception)
    // An error of the error action is not dispatched again.
    if (loop.response.exceptions.length > 1) {
      failsafe(loop.response)
      return loop
    }
    loop.request = toErrorRequest(loop.request, exception)
    loop.dispatches = 0
    publish(channels.redispatch, loop.request)
  }
}

// After the form is read: the error action of a rejected request can read it.
function check({ request, dispatches }: LoopState): void {
  const { rejection } = stateOf(request)
  if (rejection !== undefined && request.errorHandler === undefined) throw rejection
  if (dispatches > MAX_DISPATCHES) throw new Error(`More than ${MAX_DISPATCHES} dispatches`)
}

/** What {@link RequestStages} needs. */
export interface StageOptions {
  readonly router: RequestRouter
  readonly dispatcher: Dispatcher
  readonly limits: FormLimits & { readonly actionTimeoutMs: number }
}

/** The stages of the loop without plugins. Each returns a promise only if it has to wait. */
export class RequestStages {
  readonly #options: StageOptions
  readonly #deadlines: Deadlines

  constructor(options: StageOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.limits.actionTimeoutMs)
  }

  /** Routes the request, and reads its form. */
  prepare(loop: LoopState): void | Promise<void> {
    const { router, limits } = this.#options
    loop.request = router.route(loop.request)
    if (!needsForm(loop.request)) return
    const setForm = (form: FormBody): void => {
      loop.request = withForm(loop.request, form)
    }
    const form = readFormBody(loop.request, limits)
    return isPromiseLike(form) ? form.then(setForm) : setForm(form)
  }

  /** Calls the action. */
  dispatch({ request, response }: LoopState): Outcome | Promise<Outcome> {
    publish(channels.start, request)
    const action = this.#options.dispatcher.find(request)
    if (action instanceof Error) return action
    const end = (returned: unknown): Outcome => {
      const next = nextRequest(returned, 'The action')
      publish(channels.end, request, response.status)
      return next
    }
    const returned = this.#options.dispatcher.run(action, request, response)
    return isPromiseLike(returned) ? this.withDeadline(request, returned).then(end) : end(returned)
  }

  /** Waits for the first bytes of a streamed body: if they fail, the error action can still respond. */
  finish({ response: { body } }: LoopState): void | Promise<void> {
    return body instanceof Readable ? waitForFirstBytes(body) : undefined
  }

  readonly withDeadline: WithDeadline = (request, promise) =>
    this.#deadlines.within(promise, () => {
      const { actionTimeoutMs } = this.#options.limits
      const timeout = new HttpError(503, `No answer within ${actionTimeoutMs} milliseconds`)
      stateOf(request).cancellation.abort(timeout)
      return timeout
    })
}
