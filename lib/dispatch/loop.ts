import { failsafe } from '../controllers/error-controller.ts'
import { isPromiseLike } from '../http/async.ts'
import { toError } from '../http/exceptions.ts'
import { type HttpRequest, isRequest, stateOf } from '../http/request.ts'
import { type HttpResponse, responseLifecycle } from '../http/response.ts'
import type { Admission } from '../reporting/reporter.ts'
import { toErrorRequest } from './error-request.ts'
import type { Plugin } from './plugin.ts'
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

/** Decides about the report of an exception. */
export type Admit = (request: HttpRequest, exception: Error) => Admission

/**
 * The outcome of a dispatch: the response or undefined at the end of the request, a request to dispatch next, or the
 * error if there is no such action.
 */
export type Outcome = HttpResponse | HttpRequest | Error | undefined

/** The outcome of the preparation: the response if a hook has ended the request. */
export type Prepared = HttpResponse | undefined

/** The stages of the loop, with or without plugins. Each returns a promise only if it has to wait. */
export interface Stages {
  /** Routes the request, and reads its form. */
  prepare(loop: LoopState): Prepared | Promise<Prepared>
  /** Calls the action. */
  dispatch(loop: LoopState): Outcome | Promise<Outcome>
  /** Waits for the first bytes of a streamed body. If it fails before them, the error action can still respond. */
  finish(loop: LoopState): void | Promise<void>
}

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
export function* runLoop(loop: LoopState, stages: Stages, admit: Admit): Steps<LoopState> {
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
      late.delete(exception)
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

// The controllers that the loop aborts, by the errors of time limits.
const late = new WeakMap<Error, AbortController>()

/**
 * Lets the loop abort a controller when it catches an error. The timer of a time limit does not abort it: the listeners would run
 * outside of the context of their request.
 */
export function abortWhenCaught(error: Error, controller: AbortController): void {
  late.set(error, controller)
}

// Runs after the form is read, so the error action of a rejected request can read the form.
function check({ request, dispatches }: LoopState): void {
  const { rejection } = stateOf(request)
  if (rejection !== undefined && request.errorHandler === undefined) throw rejection
  if (dispatches > MAX_DISPATCHES) throw new Error(`More than ${MAX_DISPATCHES} dispatches`)
}
