import { fullName } from '../dispatch/dispatcher.ts'
import {
  type ErrorType,
  HttpError,
  NoActionError,
  NoControllerError,
  NoRouteError,
} from '../http/errors.ts'
import { factsOf } from '../http/exceptions.ts'
import { HttpRequest } from '../http/request.ts'
import { makeReport } from '../reporting/error-report.ts'
import { safeName } from '../reporting/shape.ts'
import type { SignIn } from '../reporting/sign-in-hint.ts'
import { nearestName } from '../routing/nearest-name.ts'
import { type ActionLocation, errorActionOf, locateActions, type Site } from './site.ts'

/** The error that a request would end with. */
export interface ExplainedError extends Partial<SignIn> {
  readonly status: number
  readonly type: ErrorType
  readonly message: string
  readonly why: readonly string[]
  /** The registered name that is most similar to the requested one; null if none is similar. */
  readonly nearest: string | null
  /** The error action that would respond; null if there is none. */
  readonly answeredBy: ActionLocation | null
}

/** Describes the error that a request would end with. */
export function explainError(site: Site, request: HttpRequest, exception: Error): ExplainedError {
  const { status } = factsOf(exception)
  const { type, message, looksLike, hint } = makeReport(
    request.id,
    { exceptions: [exception], request, status },
    {
      logParams: new Set(),
      hasController: (path) =>
        site.dispatcher.hasController(site.route(new HttpRequest({ target: path }))),
    },
  )
  const errorAction = errorActionOf(site)
  return {
    status,
    type,
    message,
    why: reasonsOf(site, request, exception),
    nearest: nearestOf(site, request, exception) ?? null,
    ...(looksLike && hint ? { looksLike, hint } : {}),
    answeredBy: (errorAction && locateActions(site, [errorAction])[0]) ?? null,
  }
}

function reasonsOf(site: Site, request: HttpRequest, exception: Error): readonly string[] {
  if (exception instanceof NoControllerError) return reasonsForNoController(site, request)
  if (exception instanceof NoActionError) return reasonsForNoAction(site, request)
  if (exception instanceof NoRouteError) {
    return [`The path does not begin with the base path ${site.basePath}`]
  }
  const allowed = exception instanceof HttpError && exception.headers.Allow
  if (allowed) return [`The action accepts ${allowed}`]
  return ['The request is rejected before the action is looked up']
}

function reasonsForNoController(
  site: Site,
  { module, controller }: HttpRequest,
): readonly string[] {
  const registered = unique(visibleIn(site, module).map((each) => each.controller))
  const modules = unique(site.actions.map((each) => each.module))
  return [
    isErrorController(site, module, controller)
      ? 'The error controller handles errors and cannot be requested'
      : `The module ${safeName(module)} has no controller ${safeName(controller)}; it has ${joined(registered)}`,
    `Registered modules: ${joined(modules)}`,
  ]
}

function reasonsForNoAction(site: Site, request: HttpRequest): readonly string[] {
  const { module, controller, action } = request
  const registered = ofController(site, module, controller).map((each) => each.action)
  const missing = `${safeName(controller)} has no action ${safeName(action)}`
  return [`The controller ${missing}; it has ${joined(registered)}`]
}

function isErrorController({ actions, names }: Site, module: string, controller: string): boolean {
  return actions.some(
    (each) =>
      each.isHidden &&
      names.module(each.module) === names.module(module) &&
      names.controller(each.controller) === names.controller(controller),
  )
}

function visibleIn({ actions, names }: Site, module: string): Site['actions'] {
  const key = names.module(module)
  return actions.filter((each) => !each.isHidden && names.module(each.module) === key)
}

function ofController(site: Site, module: string, controller: string): Site['actions'] {
  const { names } = site
  const key = names.controller(controller)
  return visibleIn(site, module).filter((each) => names.controller(each.controller) === key)
}

// Compares the whole name, then the start of the path (its first segment may be a misspelt module), and
// then, if only a controller was requested, the controller.
function nearestOf(site: Site, request: HttpRequest, exception: Error): string | undefined {
  const isMissing = exception instanceof NoControllerError || exception instanceof NoActionError
  if (!isMissing) return undefined
  const { registered } = site.dispatcher
  const { path, module, controller } = request
  const start = path.split('/', 4).slice(1).join('/')
  for (const requested of start.includes('/') ? [fullName(request), start] : []) {
    const nearest = nearestName(requested, registered)
    if (nearest !== undefined) return nearest
  }
  const controllers = visibleIn(site, module).map((each) => each.controller)
  return exception instanceof NoControllerError ? nearestName(controller, controllers) : undefined
}

function joined(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
