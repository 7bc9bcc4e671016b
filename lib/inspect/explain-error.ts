import { actionsOfModule, controllersOfModule, nearestOf } from '../dispatch/nearest-action.ts'
import type { RegisteredAction } from '../dispatch/registered-controller.ts'
import {
  type ErrorType,
  HttpError,
  NoActionError,
  NoControllerError,
  NoRouteError,
} from '../http/errors.ts'
import { statusOf } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import { makeReport } from '../reporting/error-report.ts'
import { safeNames } from '../reporting/request-names.ts'
import type { SignInHint } from '../reporting/sign-in-hint.ts'
import { type ActionLocation, errorActionOf, locateAction, type Site } from './site.ts'

/** The error that a request would end with. */
export interface ExplainedError extends Partial<SignInHint> {
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
  const status = statusOf(exception)
  const { type, message, looksLike, hint } = makeReport(
    request.id,
    { exceptions: [exception], request, status },
    { logParams: new Set() },
  )
  const errorAction = errorActionOf(site)
  return {
    status,
    type,
    message,
    why: reasonsOf(site, request, exception),
    nearest: nearestOf(site, request, exception) ?? null,
    ...(looksLike && hint ? { looksLike, hint } : {}),
    answeredBy: errorAction ? locateAction(site, errorAction) : null,
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

function reasonsForNoController(site: Site, request: HttpRequest): readonly string[] {
  const { module, controller } = safeNames(request)
  const missing = `The module ${module} has no controller ${controller}`
  return [
    actionsOfController(site, request).some(({ isHidden }) => isHidden)
      ? 'The error controller handles errors and cannot be requested'
      : `${missing}; it has ${listOf(controllersOfModule(site, request.module))}`,
    `Registered modules: ${listOf(site.dispatcher.actions.map((each) => each.module))}`,
  ]
}

function reasonsForNoAction(site: Site, request: HttpRequest): readonly string[] {
  const { controller, action } = safeNames(request)
  const registered = actionsOfController(site, request).map(({ action }) => action)
  return [`The controller ${controller} has no action ${action}; it has ${listOf(registered)}`]
}

function actionsOfController(
  site: Site,
  { module, controller }: HttpRequest,
): readonly RegisteredAction[] {
  const key = site.names.controller(controller)
  const actions = actionsOfModule(site, module)
  return actions.filter((each) => site.names.controller(each.controller) === key)
}

function listOf(names: readonly string[]): string {
  return [...new Set(names)].join(', ') || 'none'
}
