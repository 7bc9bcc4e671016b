import { createErrorController } from '../controllers/error-controller.ts'
import { type ErrorHooks, hooksOfControllers } from '../controllers/error-hooks.ts'
import { isPromiseLike } from '../http/async.ts'
import { monotonicMs } from '../http/clock.ts'
import { NoRouteError } from '../http/errors.ts'
import { statusOf, toError } from '../http/exceptions.ts'
import { type HttpRequest, isRequest, stateOf } from '../http/request.ts'
import { HttpResponse } from '../http/response.ts'
import { type DefaultHeaders, setMissing } from '../http/response-headers.ts'
import { isolateRequests, release } from '../http/retention.ts'
import { failureOf } from '../reporting/failure.ts'
import type { Logger } from '../reporting/log.ts'
import { Reporter } from '../reporting/reporter.ts'
import type { NamedRoute } from '../routing/named-route.ts'
import { RequestRouter } from '../routing/request-router.ts'
import type { SiteParts } from './action-urls.ts'
import { checkedOptions } from './checked-options.ts'
import { createDetails } from './development.ts'
import { emptyResponseCheck, type ResponseCheck } from './empty-responses.ts'
import { type Admit, type LoopState, runLoop, type Stages } from './loop.ts'
import {
  controllersOf,
  type FrontControllerOptions,
  type OptionsWithMaps,
  withMaps,
} from './options.ts'
import { PluginStages } from './plugin-stages.ts'
import { RequestStages } from './request-stages.ts'
import { run } from './steps.ts'

/** The parts of a front controller that the folders `inspect/` and `testing/` read. @internal */
export interface FrontControllerParts extends SiteParts {
  readonly options: OptionsWithMaps
}

/** Returns the parts of a front controller. @internal */
export let partsOf: (front: FrontController) => FrontControllerParts

/**
 * Routes each request to an action, and each error to the error action.
 *
 * @example
 * const front = new FrontController({ controllers: { news } })
 * const response = await front.handle(new HttpRequest({ target: '/news/list' }))
 * @throws {TypeError | RangeError} If an option or an action is invalid.
 */
export class FrontController {
  readonly #parts: FrontControllerParts
  readonly #stages: Stages
  readonly #hooks: ErrorHooks | undefined
  readonly #reporter: Reporter
  readonly #headers: DefaultHeaders
  readonly #check: ResponseCheck | undefined

  static {
    partsOf = (front) => front.#parts
  }

  constructor(given: FrontControllerOptions = {}) {
    const options = withMaps(given)
    const { development = false, showValues = false } = options
    const logParams = new Set(options.logParams)
    const detailsOf = development
      ? createDetails({ logParams, showValues, getSite: () => this.#parts })
      : undefined
    this.#hooks = hooksOfControllers(controllersOf(options))
    const errorController = createErrorController(detailsOf, this.#hooks?.linkOf)
    const checked = checkedOptions(options, errorController)
    const { dispatcher, logger, basePath, names } = checked
    if (development) dispatcher.replaceErrorController(errorController)
    const router = new RequestRouter(checked)
    this.#parts = { options, router, dispatcher, basePath, names }
    if (development && logger) this.#check = emptyResponseCheck(dispatcher, logger)
    const { limits, plugins } = checked
    const stages = new RequestStages({ router, dispatcher, limits })
    this.#stages = plugins.length === 0 ? stages : new PluginStages(stages, router, plugins)
    if (plugins.length > 0 || dispatcher.actions.some(({ hasHooks }) => hasHooks)) isolateRequests()
    this.#headers = checked.headers
    if (logger !== undefined) warnAboutRoutes(checked.routes, logger)
    this.#reporter = new Reporter({ ...checked, logParams, development })
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
    const start: LoopState = { request, response: new HttpResponse(), dispatches: 0 }
    const loop = run(runLoop(start, this.#stages, this.#admit))
    return isPromiseLike(loop) ? loop.then((loop) => this.#complete(loop)) : this.#complete(loop)
  }

  /**
   * Reports whether there is an action for the target of a request. Runs no plugin, reads no body, and reports nothing.
   */
  serves(request: HttpRequest): boolean {
    const { router, dispatcher } = this.#parts
    try {
      const routed = router.route(request)
      const isRoutable = !(stateOf(routed).rejection instanceof NoRouteError)
      return isRoutable && !(dispatcher.find(routed) instanceof Error)
    } catch {
      // A custom router threw: the error controller responds to its error.
      return true
    }
  }

  /**
   * Reports an error outside of the loop: in a connection, in the process, or in work that continues after the response.
   *
   * @param about The request whose values are scrubbed from the report. Without one, the report has only the known
   * words of the message, and the shapes of all others.
   */
  report(error: unknown, about: { request?: HttpRequest | undefined; status?: number } = {}): void {
    const { request, status = 500 } = about
    this.#reporter.report({ exceptions: [toError(error)], request, status })
  }

  /** Logs how many errors were only counted since the last summary. Call it before a process ends. */
  flush(): void {
    this.#reporter.flush()
  }

  readonly #admit: Admit = (request, exception) => {
    this.#hooks?.failed(request)
    return this.#reporter.admit({ exceptions: [exception], request, status: statusOf(exception) })
  }

  #complete(loop: LoopState): HttpResponse {
    const { request: last, response, admission } = loop
    release(loop)
    const request = last.errorHandler?.request ?? last
    const { message } = stateOf(request)
    response.request = request
    this.#check?.(last, response)
    message.ending?.finish?.(response.headers)
    setMissing(response.headers, this.#headers)
    if (message.isNegotiated) response.vary('Accept')
    if (response.exceptions.length > 0) {
      const durationMs = monotonicMs() - message.arrivedAt
      this.#reporter.report({ ...failureOf(response), durationMs }, admission)
    }
    return response
  }
}

function warnAboutRoutes(routes: readonly NamedRoute[], logger: Logger): void {
  for (const { name, isUnlimited } of routes) {
    if (!isUnlimited) continue
    const problem = 'a regular expression whose time is not limited'
    logger.warn({ event: 'warning', route: name }, `The route "${name}" has ${problem}`)
  }
}
