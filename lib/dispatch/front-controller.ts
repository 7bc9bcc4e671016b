import { createErrorController, failsafe } from '../controllers/error-controller.ts'
import { NoRouteError } from '../http/errors.ts'
import { toError } from '../http/exceptions.ts'
import { isPromiseLike } from '../http/is-promise-like.ts'
import { HttpRequest, isRequest, stateOf } from '../http/request.ts'
import { HttpResponse, responseLifecycle } from '../http/response.ts'
import { channels, publish } from '../reporting/diagnostics.ts'
import { Reporter } from '../reporting/reporter.ts'
import { RequestRouter } from '../routing/request-router.ts'
import { developer } from './development.ts'
import { Dispatcher } from './dispatcher.ts'
import { toErrorRequest } from './error-request.ts'
import { checkedOptions, type FrontControllerOptions } from './options.ts'
import { PluginBroker } from './plugin.ts'
import { PluginStages } from './plugin-stages.ts'
import { type LoopState, RequestStages, type Stages } from './stages.ts'
import { run, type Steps, wait } from './steps.ts'

// Ends forwards that go in a circle.
const MAX_DISPATCHES = 16

/** The parts of a front controller that the rooms `inspect/` and `testing/` read. @internal */
export interface FrontControllerParts {
  readonly options: FrontControllerOptions
  readonly router: RequestRouter
  readonly dispatcher: Dispatcher
}

/** Returns the parts of a front controller. @internal */
export let partsOf: (front: FrontController) => FrontControllerParts

/**
 * Routes each request to an action, and each error to the error action.
 *
 * @example
 * const front = new FrontController({ controllers: new Map([['news', news]]) })
 * const response = await front.handle(new HttpRequest({ target: '/news/list' }))
 * @throws {TypeError | RangeError} If an option is invalid; the message names it.
 */
export class FrontController {
  readonly #options: FrontControllerOptions
  readonly #router: RequestRouter
  readonly #dispatcher: Dispatcher
  readonly #createStages: () => Stages
  readonly #reporter: Reporter

  static {
    partsOf = (front) => ({
      options: front.#options,
      router: front.#router,
      dispatcher: front.#dispatcher,
    })
  }

  constructor(options: FrontControllerOptions = {}) {
    this.#options = options
    const reports = { logParams: new Set(options.logParams), hasController: this.#hasController }
    const develop = options.development ? developer(reports, () => this.#dispatcher) : undefined
    const checked = checkedOptions(options, createErrorController(develop))
    const router = new RequestRouter(checked)
    const dispatcher = new Dispatcher(checked.modules, checked.names)
    const stages = new RequestStages({ router, dispatcher, limits: checked.limits })
    const broker = (): PluginBroker => new PluginBroker(checked.plugins, stages.withDeadline)
    this.#createStages =
      checked.plugins.length === 0 ? () => stages : () => new PluginStages(stages, router, broker())
    this.#router = router
    this.#dispatcher = dispatcher
    this.#reporter = new Reporter({ ...checked, ...reports })
  }

  /**
   * Handles a request, as {@link FrontController.respond} does. The promise never rejects for a request.
   *
   * @throws {TypeError} If the argument is not a request.
   */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    if (!isRequest(request)) throw new TypeError('Expected a request: new HttpRequest({ target })')
    return this.respond(request)
  }

  /** Handles a request. Returns a promise only if the body, an action or a plugin has to be awaited. */
  respond(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    return run(this.#live(request))
  }

  /**
   * The life of a request, in the order of the lines below:
   *
   *   prepare     route: target to path and `q`, to module, controller, action and pairs; form: a POSTed body, within limits
   *   check       a rejected request goes no further; nor does a circle of forwards
   *   dispatch    the controller from its Map, its action called
   *   finish      the response is complete
   *   forward     or again, with the request that the action returned
   *   error       or again, with `error/error`, once, whatever failed above
   */
  *#live(request: HttpRequest): Steps<HttpResponse> {
    const stages = this.#createStages()
    const startedAt = performance.now()
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
          return this.#complete(loop, startedAt)
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
        return this.#complete(loop, startedAt)
      }
      loop.request = toErrorRequest(loop.request, exception)
      loop.dispatches = 0
      publish(channels.redispatch, loop.request)
    }
  }

  /**
   * Whether there is an action for a request, by its target alone: no plugin runs, no body is read, nothing is
   * reported. True for a request that is rejected, such as one with a malformed path.
   *
   * @example
   * front.serves(new HttpRequest({ target: '/news/list' }))
   */
  serves(request: HttpRequest): boolean {
    try {
      const routed = this.#router.route(request)
      const isRoutable = !(stateOf(routed).rejection instanceof NoRouteError)
      return isRoutable && !(this.#dispatcher.find(routed) instanceof Error)
    } catch {
      // A custom router threw: the error controller responds to that.
      return true
    }
  }

  /**
   * Reports an error that did not pass through the loop: of a connection, of the process, or of work that goes on after
   * the response.
   *
   * @param about The request whose values are scrubbed from the report. Without one, the message is reported by its shape.
   */
  report(error: unknown, about: { request?: HttpRequest | undefined; status?: number } = {}): void {
    const { request, status = 500 } = about
    this.#reporter.report({ exceptions: [toError(error)], request, status })
  }

  /** Logs how many errors were only counted since the last summary. Call it before a process ends. */
  flush(): void {
    this.#reporter.flush()
  }

  #complete({ request: last, response }: LoopState, startedAt: number): HttpResponse {
    const { exceptions, status } = response
    const request = last.errorHandler?.request ?? last
    response.request = request
    if (exceptions.length > 0) {
      const durationMs = performance.now() - startedAt
      this.#reporter.report({ exceptions, request, status, durationMs })
    }
    return response
  }

  readonly #hasController = (path: string): boolean => {
    try {
      return this.#dispatcher.hasController(this.#router.route(new HttpRequest({ target: path })))
    } catch {
      // A custom router that needs more than the path: no hint is better than a wrong one.
      return true
    }
  }
}

// After the form is read: the error action of a rejected request can read it.
function check({ request, dispatches }: LoopState): void {
  const { rejection } = stateOf(request)
  if (rejection !== undefined && request.errorHandler === undefined) throw rejection
  if (dispatches > MAX_DISPATCHES) throw new Error(`More than ${MAX_DISPATCHES} dispatches`)
}
