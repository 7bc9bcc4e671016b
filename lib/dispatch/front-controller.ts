import { Readable } from 'node:stream'
import { nextRequest } from '../controllers/controller.ts'
import { createErrorController, failsafe } from '../controllers/error-controller.ts'
import { firstBytes } from '../http/body.ts'
import { HttpError, NoRouteError } from '../http/errors.ts'
import { toError } from '../http/exceptions.ts'
import { needsForm, readFormBody, withForm } from '../http/form-body.ts'
import { isPromiseLike } from '../http/is-promise-like.ts'
import { abort, HttpRequest, isRequest, isRouted, stateOf } from '../http/request.ts'
import { HttpResponse } from '../http/response.ts'
import { channels, publish } from '../reporting/diagnostics.ts'
import { Reporter } from '../reporting/reporter.ts'
import { RequestRouter } from '../routing/request-router.ts'
import { Deadlines } from './deadlines.ts'
import { developer } from './development.ts'
import { Dispatcher } from './dispatcher.ts'
import { toErrorRequest } from './error-request.ts'
import { checkedOptions, type FrontControllerOptions, type Limits } from './options.ts'
import { type Plugin, PluginBroker, type Within } from './plugin.ts'
import { run, type Steps, wait } from './steps.ts'

// Forwards that go in a circle end here.
const MAX_DISPATCHES = 16

// What a dispatch comes to: nothing more to do, another request, or the error that there is nothing to run.
type Dispatched = HttpRequest | Error | undefined

/** What a front controller was made from. */
export let optionsOf: (front: FrontController) => FrontControllerOptions

/**
 * Gives every request a destination.
 *
 * @example
 * const front = new FrontController({ controllers: new Map([['news', news]]) })
 * const response = await front.handle(new HttpRequest({ target: '/news/list' }))
 * @throws {TypeError | RangeError} If an option is not what it should be.
 */
export class FrontController {
  readonly #options: FrontControllerOptions
  readonly #routing: RequestRouter
  readonly #dispatcher: Dispatcher
  readonly #plugins: readonly Plugin[]
  readonly #limits: Limits
  readonly #deadlines: Deadlines
  readonly #reporter: Reporter

  // A door for tests, that no application sees: index.ts does not export it.
  static {
    optionsOf = (front) => front.#options
  }

  constructor(options: FrontControllerOptions = {}) {
    this.#options = options
    const reports = { logParams: new Set(options.logParams), hasController: this.#hasController }
    const develop = options.development ? developer(reports, () => this.#dispatcher) : undefined
    const checked = checkedOptions(options, createErrorController(develop))
    this.#routing = new RequestRouter(checked)
    this.#dispatcher = new Dispatcher(checked.modules, checked.names)
    this.#plugins = checked.plugins
    this.#limits = checked.limits
    this.#deadlines = new Deadlines(checked.limits.actionTimeoutMs)
    this.#reporter = new Reporter({ ...checked, ...reports })
  }

  /**
   * Answers a request, as {@link FrontController.respond} does; for a request it never rejects.
   *
   * @throws {TypeError} If it is no request.
   */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    if (!isRequest(request)) throw new TypeError('Expected a request: new HttpRequest({ target })')
    return this.respond(request)
  }

  /** Answers a request: at once where nothing has to be waited for, no form that is still to come, and no promise. */
  respond(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    return run(this.#live(request))
  }

  /**
   * The life of a request, in the order of the lines below:
   *
   *   route       the target to the path that is routed and `q`, to module, controller, action, and pairs
   *   form        the body of a POSTed form, within its limits
   *   dispatch    the controller from its Map, its action called
   *   again       with the request that the action returned,
   *   or again    with `error/error`, once, whatever went wrong above
   */
  *#live(request: HttpRequest): Steps<HttpResponse> {
    const plugins = this.#plugins.length > 0 && new PluginBroker(this.#plugins, this.#within)
    const startedAt = performance.now()
    let response = new HttpResponse()
    let current = request

    for (let dispatches = 1; ; dispatches++) {
      let exception: Error
      try {
        if (!isRouted(current)) {
          if (plugins) {
            current = this.#routing.rewrite(current)
            current = yield* plugins.notify('routeStartup', current, response)
          }
          current = this.#routing.route(current)
          if (plugins) current = yield* plugins.notify('routeShutdown', current, response)
          current = this.#routing.route(current)
        }
        if (needsForm(current)) current = yield* this.#readForm(current)
        if (plugins && isFirst(current, dispatches)) {
          current = yield* plugins.notify('dispatchLoopStartup', current, response)
          current = this.#routing.route(current)
          if (needsForm(current)) current = yield* this.#readForm(current)
        }
        refuse(current, dispatches)

        const dispatched = plugins
          ? yield* this.#dispatchAmong(plugins, current, response)
          : this.#dispatch(current, response)
        const next = isPromiseLike(dispatched) ? yield* wait(dispatched) : dispatched
        if (next === undefined) {
          if (plugins) yield* plugins.notify('dispatchLoopShutdown', current, response)
          if (response.body instanceof Readable) yield* wait(firstBytes(response.body))
          return this.#answer(current, response, startedAt)
        }
        if (isRequest(next)) {
          current = next
          continue
        }
        exception = next
      } catch (thrown) {
        exception = toError(thrown)
      }
      response = response.reset(exception)
      // A second fault does not go round.
      if (response.exceptions.length > 1) {
        return this.#answer(current, failsafe(response), startedAt)
      }
      current = toErrorRequest(current, exception)
      dispatches = 0
      publish(channels.redispatch, current)
    }
  }

  /**
   * Whether there is an action for a request, by its target alone: no plugin is asked, no body is read,
   * nothing is reported. A request that must be refused (a malformed path, say) has one all the same.
   *
   * @example
   * front.serves(new HttpRequest({ target: '/news/list' }))
   */
  serves(request: HttpRequest): boolean {
    try {
      const routed = this.#routing.route(request)
      const isRoutable = !(stateOf(routed).rejection instanceof NoRouteError)
      return isRoutable && !(this.#dispatcher.find(routed) instanceof Error)
    } catch {
      // A router of one's own that throws: what it throws is for the error controller to answer.
      return true
    }
  }

  /**
   * Reports an error that did not pass through the loop: of a connection, of the process, of work that
   * goes on when its request has been answered.
   *
   * @param about The request whose values must not be told; without one the message is not told either.
   */
  report(error: unknown, about: { request?: HttpRequest | undefined; status?: number } = {}): void {
    const { request, status = 500 } = about
    this.#reporter.report({ exceptions: [toError(error)], request, status })
  }

  /** Logs how many errors were only counted since the last summary: for the end of a process. */
  flush(): void {
    this.#reporter.flush()
  }

  #answer(current: HttpRequest, response: HttpResponse, startedAt: number): HttpResponse {
    const { exceptions, status } = response
    const request = current.errorHandler?.request ?? current
    response.request = request
    if (exceptions.length > 0) {
      const durationMs = performance.now() - startedAt
      this.#reporter.report({ exceptions, request, status, durationMs })
    }
    return response
  }

  *#readForm(request: HttpRequest): Steps<HttpRequest> {
    const form = readFormBody(request, this.#limits)
    return withForm(request, isPromiseLike(form) ? yield* wait(form) : form)
  }

  *#dispatchAmong(
    plugins: PluginBroker,
    request: HttpRequest,
    response: HttpResponse,
  ): Steps<Dispatched> {
    const instead = yield* plugins.notify('preDispatch', request, response)
    if (instead !== request) return instead
    const dispatched = this.#dispatch(request, response)
    const next = isPromiseLike(dispatched) ? yield* wait(dispatched) : dispatched
    if (next instanceof Error) return next
    const after = yield* plugins.notify('postDispatch', request, response)
    return after === request ? next : after
  }

  #dispatch(request: HttpRequest, response: HttpResponse): Dispatched | Promise<Dispatched> {
    publish(channels.start, request)
    const found = this.#dispatcher.find(request)
    if (found instanceof Error) return found
    const returned = this.#dispatcher.run(found, request, response)
    return isPromiseLike(returned)
      ? this.#within(request, returned).then((settled) => ended(request, response, settled))
      : ended(request, response, returned)
  }

  readonly #hasController = (path: string): boolean => {
    try {
      return this.#dispatcher.hasController(this.#routing.route(new HttpRequest({ target: path })))
    } catch {
      // A router of one's own that can't tell by the path alone: no hint is better than a wrong one.
      return true
    }
  }

  readonly #within: Within = (request, promise) =>
    this.#deadlines.within(promise, () => {
      const { actionTimeoutMs } = this.#limits
      const timeout = new HttpError(503, `No answer within ${actionTimeoutMs} milliseconds`)
      abort(request, timeout)
      return timeout
    })
}

// Not when it is routed: the error action must have the form that came with a bad path.
function refuse(request: HttpRequest, dispatches: number): void {
  const { rejection } = stateOf(request)
  if (rejection !== undefined) throw rejection
  if (dispatches > MAX_DISPATCHES) throw new Error(`More than ${MAX_DISPATCHES} dispatches`)
}

function ended(request: HttpRequest, response: HttpResponse, returned: unknown): Dispatched {
  const next = nextRequest(returned, 'The action')
  publish(channels.end, request, response.status)
  return next
}

function isFirst({ errorHandler }: HttpRequest, dispatches: number): boolean {
  return dispatches === 1 && errorHandler === undefined
}
