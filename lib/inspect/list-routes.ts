import { urlsOf } from '../dispatch/action-urls.ts'
import type { FrontController } from '../dispatch/front-controller.ts'
import { type ActionLocation, errorActionOf, locateAction, siteOf } from './site.ts'

/** An action with the URLs that lead to it. */
export interface ListedRoute extends ActionLocation {
  /** The URLs that lead to the action, the shortest first; `...` stands for key/value pairs. */
  readonly urls: readonly string[]
  /** The allowed methods; null if all are allowed. */
  readonly methods: readonly string[] | null
}

/** Lists every action that a request can reach, in the order of registration, and last the error action. */
export function listRoutes(front: FrontController): readonly ListedRoute[] {
  const site = siteOf(front)
  const errorAction = errorActionOf(site)
  const { reachable } = site.dispatcher
  const actions = errorAction === undefined ? reachable : [...reachable, errorAction]
  return actions.map((action) => ({
    ...locateAction(site, action),
    urls: action.isHidden ? [] : urlsOf(site, action),
    methods: action.methods ?? null,
  }))
}
