import { fileURLToPath } from 'node:url'
import type { Controller } from '../controllers/controller.ts'
import { createErrorController } from '../controllers/error-controller.ts'
import { welcomeController } from '../controllers/welcome-controller.ts'
import { Dispatcher, fullName, type NamedAction } from '../dispatch/dispatcher.ts'
import { checkedOptions, type FrontControllerOptions } from '../dispatch/options.ts'
import type { HttpRequest } from '../http/request.ts'
import type { NameKeys } from '../routing/name-rules.ts'
import { RequestRouter } from '../routing/request-router.ts'
import { sourceLocations } from './source-location.ts'

/** What a front controller of the same options routes and dispatches by, to be looked at: nothing is run. */
export interface Site {
  readonly basePath: string
  readonly names: NameKeys
  readonly actions: readonly NamedAction[]
  readonly dispatcher: Dispatcher
  /** The request with its path, its names and its pairs. */
  route(request: HttpRequest): HttpRequest
  isBuiltIn(controller: Controller): boolean
}

/** @throws {TypeError | RangeError} As the front controller does. */
export function siteOf(options: FrontControllerOptions): Site {
  const errorController = createErrorController()
  const checked = checkedOptions(options, errorController)
  const dispatcher = new Dispatcher(checked.modules, checked.names)
  const routing = new RequestRouter(checked)
  const builtIn: readonly Controller[] = [errorController, welcomeController]
  return {
    basePath: checked.basePath,
    names: checked.names,
    actions: dispatcher.actions,
    dispatcher,
    route: (request) => routing.route(request),
    isBuiltIn: (controller) => builtIn.includes(controller),
  }
}

/** An action, and where it is written. */
export interface WrittenAction {
  /** Such as `news/list`, `admin/report/daily`. */
  readonly name: string
  readonly builtIn: boolean
  /** The path of its file; null for a built-in one, and where it is not known. */
  readonly file: string | null
  /** Its line there; the first is 1. */
  readonly line: number | null
}

/** Tells where actions are written, in their order. */
export function written(site: Site, actions: readonly NamedAction[]): readonly WrittenAction[] {
  const places = sourceLocations(actions.map(({ found }) => found.action))
  return actions.map((action, i) => {
    const builtIn = site.isBuiltIn(action.found.controller)
    const place = builtIn ? undefined : places[i]
    return {
      name: fullName(action),
      builtIn,
      file: place ? fileURLToPath(place.url) : null,
      line: place?.line ?? null,
    }
  })
}

/** The action that answers for every error; undefined where an error controller has none. */
export function errorActionOf({ actions }: Site): NamedAction | undefined {
  return actions.find(({ action, isHidden }) => isHidden && action === 'error')
}
