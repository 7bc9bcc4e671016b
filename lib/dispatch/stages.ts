import { Readable } from 'node:stream'
import { nextRequest } from '../controllers/controller.ts'
import { HttpError } from '../http/errors.ts'
import { type FormLimits, needsForm, readFormBody, withForm } from '../http/form-body.ts'
import { isPromiseLike } from '../http/is-promise-like.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { channels, publish } from '../reporting/diagnostics.ts'
import type { RequestRouter } from '../routing/request-router.ts'
import { Deadlines } from './deadlines.ts'
import type { Dispatcher } from './dispatcher.ts'
import { waitForFirstBytes } from './first-bytes.ts'
import type { WithDeadline } from './plugin.ts'

/** The state of the loop for one request; its stages replace the request and fill in the response. */
export interface LoopState {
  request: HttpRequest
  response: HttpResponse
  /** Dispatches of this request, counted again from its error. */
  dispatches: number
}

/** What a dispatch ends with: nothing, a request to dispatch next, or the error that there is no such action. */
export type Outcome = HttpRequest | Error | undefined

/** What {@link RequestStages} needs. */
export interface StageOptions {
  readonly router: RequestRouter
  readonly dispatcher: Dispatcher
  readonly limits: FormLimits & { readonly actionTimeoutMs: number }
}

/** The stages of the loop. */
export type Stages = Pick<RequestStages, 'prepare' | 'dispatch' | 'finish'>

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
    loop.request = this.#options.router.route(loop.request)
    if (!needsForm(loop.request)) return
    const form = readFormBody(loop.request, this.#options.limits)
    if (!isPromiseLike(form)) loop.request = withForm(loop.request, form)
    else {
      return form.then((read) => {
        loop.request = withForm(loop.request, read)
      })
    }
  }

  /** Calls the action. */
  dispatch({ request, response }: LoopState): Outcome | Promise<Outcome> {
    publish(channels.start, request)
    const { dispatcher } = this.#options
    const found = dispatcher.find(request)
    if (found instanceof Error) return found
    const returned = dispatcher.run(found, request, response)
    return isPromiseLike(returned)
      ? this.withDeadline(request, returned).then((settled) => ended(request, response, settled))
      : ended(request, response, returned)
  }

  /** Waits for the first bytes of a streamed body: if they fail, the error action can still respond. */
  finish({ response }: LoopState): void | Promise<void> {
    if (response.body instanceof Readable) return waitForFirstBytes(response.body)
  }

  readonly withDeadline: WithDeadline = (request, promise) =>
    this.#deadlines.within(promise, () => {
      const { actionTimeoutMs } = this.#options.limits
      const timeout = new HttpError(503, `No answer within ${actionTimeoutMs} milliseconds`)
      stateOf(request).cancellation.abort(timeout)
      return timeout
    })
}

function ended(request: HttpRequest, response: HttpResponse, returned: unknown): Outcome {
  const next = nextRequest(returned, 'The action')
  publish(channels.end, request, response.status)
  return next
}
