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
import { errorActionOf, type Site, type WrittenAction, written } from './site.ts'

/** The error that a request would end with. */
export interface ExplainedError extends Partial<SignIn> {
  readonly status: number
  readonly type: ErrorType
  readonly message: string
  readonly why: readonly string[]
  /** The registered name that is most like the one that was asked for; null where none is. */
  readonly nearest: string | null
  /** The action that would answer; null where there is none. */
  readonly answeredBy: WrittenAction | null
}

/** Tells what a request would end with. */
export function tellError(site: Site, request: HttpRequest, exception: Error): ExplainedError {
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
  const answering = errorActionOf(site)
  return {
    status,
    type,
    message,
    why: reasonsOf(site, request, exception),
    nearest: nearestOf(site, request, exception) ?? null,
    ...(looksLike && hint ? { looksLike, hint } : {}),
    answeredBy: (answering && written(site, [answering])[0]) ?? null,
  }
}

function reasonsOf(site: Site, request: HttpRequest, exception: Error): readonly string[] {
  if (exception instanceof NoControllerError) return whyNoController(site, request)
  if (exception instanceof NoActionError) return whyNoAction(site, request)
  if (exception instanceof NoRouteError) {
    return [`The path does not begin with the base path ${site.basePath}`]
  }
  const allowed = exception instanceof HttpError && exception.headers.Allow
  return allowed ? [`The action takes ${allowed}`] : ['It is refused before an action is looked up']
}

function whyNoController(site: Site, { module, controller }: HttpRequest): readonly string[] {
  const there = unique(visibleIn(site, module).map((each) => each.controller))
  const modules = unique(site.actions.map((each) => each.module))
  return [
    isErrorController(site, module, controller)
      ? 'The error controller answers for errors, and can not be asked for'
      : `The module ${safeName(module)} has no controller ${safeName(controller)}; it has ${listed(there)}`,
    `Registered modules: ${listed(modules)}`,
  ]
}

function whyNoAction(site: Site, request: HttpRequest): readonly string[] {
  const { module, controller, action } = request
  const there = ofController(site, module, controller).map((each) => each.action)
  const asked = `${safeName(controller)} has no action ${safeName(action)}`
  return [`The controller ${asked}; it has ${listed(there)}`]
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

// By the whole name, by what may be a module misspelt; where only a controller was asked for, by that.
function nearestOf(site: Site, request: HttpRequest, exception: Error): string | undefined {
  const isMissing = exception instanceof NoControllerError || exception instanceof NoActionError
  if (!isMissing) return undefined
  const { registered } = site.dispatcher
  const { path, module, controller } = request
  const start = path.split('/', 4).slice(1).join('/')
  for (const asked of start.includes('/') ? [fullName(request), start] : []) {
    const found = nearestName(asked, registered)
    if (found !== undefined) return found
  }
  const controllers = visibleIn(site, module).map((each) => each.controller)
  return exception instanceof NoControllerError ? nearestName(controller, controllers) : undefined
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
