import { Readable } from 'node:stream'
import { firstBytes } from './body.ts'
import { nextRequest } from './controller.ts'
import { Deadlines } from './deadlines.ts'
import { Dispatcher } from './dispatcher.ts'
import { failsafe } from './error-controller.ts'
import { toError, toErrorRequest } from './error-handler.ts'
import { HttpError, NoRouteError } from './errors.ts'
import { bringsForm, readFormBody } from './form-body.ts'
import { checkedOptions, type FrontControllerOptions, type Limits } from './options.ts'
import { exceedsFields, exceedsPairs } from './params.ts'
import { type Plugin, PluginBroker, type Within } from './plugin.ts'
import { abort, derive, findingsOf, type HttpRequest, isRouted, type Route } from './request.ts'
import { HttpResponse } from './response.ts'
import { rewrite, splitTarget } from './rewrite.ts'
import { ModuleRouter, type Router } from './router.ts'

// Forwards that go in a circle end here.
const MAX_DISPATCHES = 16

// How long a streamed body's first bytes are waited for.
const FIRST_BYTES_MS = 200

const NOWHERE = { module: '', controller: '', action: '' }

/**
 * Gives every request a destination.
 *
 * @example
 * const front = new FrontController({ controllers: new Map([['news', news]]) })
 * const response = await front.handle(new HttpRequest({ target: '/news/list' }))
 * @throws {TypeError | RangeError} If an option is not what it should be.
 */
export class FrontController {
  readonly #basePath: string
  readonly #router: Router
  readonly #dispatcher: Dispatcher
  readonly #plugins: readonly Plugin[]
  readonly #limits: Limits
  readonly #deadlines: Deadlines

  constructor(options: FrontControllerOptions = {}) {
    const { modules, names, basePath, router, plugins, limits } = checkedOptions(options)
    this.#basePath = basePath
    this.#router =
      router ??
      new ModuleRouter(
        modules.map(([name]) => name),
        names,
      )
    this.#dispatcher = new Dispatcher(modules, names)
    this.#plugins = plugins
    this.#limits = limits
    this.#deadlines = new Deadlines(limits.actionTimeoutMs)
  }

  /**
   * The life of a request, in the order of the lines below:
   *
   *   rewrite     the target to the path that is routed, and `q`
   *   route       the path to module, controller, action, and pairs
   *   form        the body of a POSTed form, within its limits
   *   dispatch    the controller from its Map, its action called
   *   again       with the request that the action returned,
   *   or again    with `error/error`, once, whatever was thrown above
   */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    const plugins = new PluginBroker(this.#plugins, this.#within)
    let response = new HttpResponse()
    let current = request

    for (let dispatches = 1; ; dispatches++) {
      try {
        if (!isRouted(current)) {
          current = this.#rewrite(current)
          current = this.#route(await plugins.notify('routeStartup', current, response))
          current = this.#route(await plugins.notify('routeShutdown', current, response))
        }
        if (isFormDue(current)) current = await this.#readForm(current)
        if (isFirst(current, dispatches)) {
          current = this.#route(await plugins.notify('dispatchLoopStartup', current, response))
        }
        refuse(current, dispatches)

        const next = await this.#dispatch(current, response, plugins)
        if (next === undefined) {
          await plugins.notify('dispatchLoopShutdown', current, response)
          if (response.body instanceof Readable) await firstBytes(response.body, FIRST_BYTES_MS)
          return response
        }
        current = next
      } catch (thrown) {
        const exception = toError(thrown)
        response = response.reset(exception)
        // A second fault does not go round.
        if (response.exceptions.length > 1) return failsafe(response)
        current = toErrorRequest(current, exception)
        dispatches = 0
      }
    }
  }

  #rewrite(request: HttpRequest): HttpRequest {
    const { path, q, refusal } = rewrite(request.target, this.#basePath)
    return derive(request, { path, q, refusal, maxBodyBytes: this.#limits.maxBodyBytes })
  }

  // A request that has its route keeps it.
  #route(request: HttpRequest): HttpRequest {
    if (isRouted(request)) return request
    const rewritten = request.path === '' ? this.#rewrite(request) : request
    const route = this.#router.route(rewritten)
    const findings = findingsOf(rewritten)
    const refusal = route ? this.#excess(rewritten, route) : new NoRouteError()
    return derive(rewritten, {
      ...findings,
      route: route ?? NOWHERE,
      refusal: findings.refusal ?? refusal,
    })
  }

  #excess({ target }: HttpRequest, { pairs }: Route): HttpError | undefined {
    const { maxFields } = this.#limits
    if (exceedsFields(splitTarget(target).search, maxFields)) {
      return new HttpError(400, `The query string has more than ${maxFields} parameters`)
    }
    if (typeof pairs === 'string' && exceedsPairs(pairs, maxFields)) {
      return new HttpError(400, `The path has more than ${maxFields} pairs`)
    }
    return undefined
  }

  async #readForm(request: HttpRequest): Promise<HttpRequest> {
    const form = await readFormBody(request, this.#limits)
    return derive(request, { ...findingsOf(request), form })
  }

  async #dispatch(
    request: HttpRequest,
    response: HttpResponse,
    plugins: PluginBroker,
  ): Promise<HttpRequest | undefined> {
    const instead = await plugins.notify('preDispatch', request, response)
    if (instead !== request) return instead

    const returned = this.#dispatcher.dispatch(request, response)
    const settled = isPromiseLike(returned) ? await this.#within(request, returned) : returned
    const next = nextRequest(settled, 'The action')
    const after = await plugins.notify('postDispatch', request, response)
    return after === request ? next : after
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
  const { refusal } = findingsOf(request)
  if (refusal !== undefined) throw refusal
  if (dispatches > MAX_DISPATCHES) throw new Error(`More than ${MAX_DISPATCHES} dispatches`)
}

function isFirst({ errorHandler }: HttpRequest, dispatches: number): boolean {
  return dispatches === 1 && errorHandler === undefined
}

function isFormDue(request: HttpRequest): boolean {
  const { form, errorHandler } = findingsOf(request)
  return form === undefined && errorHandler === undefined && bringsForm(request)
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}
