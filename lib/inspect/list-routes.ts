import { urlsOf } from '../dispatch/action-urls.ts'
import type { FrontController } from '../dispatch/front-controller.ts'
import { kindsOf, targetOf, textOf } from './describe-route.ts'
import { type ActionLocation, errorActionOf, locateAction, siteOf } from './site.ts'

/** An action with the URLs of the default route that lead to it. */
export interface ListedAction extends ActionLocation {
  /** The URLs, the shortest first; `...` stands for pairs. Empty if only named routes lead to the action. */
  readonly urls: readonly string[]
  /** The allowed methods; null if all are allowed. */
  readonly methods: readonly string[] | null
  /** Whether it is the action that responds to errors, which has no URL. */
  readonly handlesErrors: boolean
}

/** A named route. */
export interface ListedRoute {
  readonly name: string
  /** Its kinds, such as `host`, `regex`, `under`. */
  readonly kinds: readonly string[]
  /** Its pattern, such as `/news/:id`. */
  readonly matches: string
  /** The action that it leads to; a variable has a colon. */
  readonly to: string
}

/** Lists the named routes, in the order in which they are tried. */
export function listRoutes(front: FrontController): readonly ListedRoute[] {
  const { basePath, router } = siteOf(front)
  return [...router.named.values()].reverse().map((route) => ({
    name: route.name,
    kinds: kindsOf(route),
    matches: textOf(route, basePath),
    to: targetOf(route),
  }))
}

/** Lists every action that a request can reach, in the order of registration, and last the error action. */
export function listActions(front: FrontController): readonly ListedAction[] {
  const site = siteOf(front)
  const errorAction = errorActionOf(site)
  const { reachable } = site.dispatcher
  const actions = errorAction === undefined ? reachable : [...reachable, errorAction]
  return actions.map((action) => ({
    ...locateAction(site, action),
    urls: action.isHidden ? [] : urlsOf(site, action),
    methods: action.methods ?? null,
    handlesErrors: action.isHidden,
  }))
}
