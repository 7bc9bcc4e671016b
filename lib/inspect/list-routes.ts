import { urlsOf } from '../dispatch/action-urls.ts'
import { CALL } from '../dispatch/controller-hooks.ts'
import type { FrontController } from '../dispatch/front-controller.ts'
import type { RegisteredAction } from '../dispatch/registered-controller.ts'
import { kindsOf, pathTo, targetOf, textOf } from './describe-route.ts'
import { type ActionLocation, errorActionOf, locateAction, type Site, siteOf } from './site.ts'

/** An action with the URLs that lead to it. */
export interface ListedRoute extends ActionLocation {
  /** The URLs that lead to the action: those of named routes, then the others, the shortest first; `...` stands for pairs. */
  readonly urls: readonly string[]
  /** The allowed methods; null if all are allowed. */
  readonly methods: readonly string[] | null
}

/** A named route. */
export interface ListedNamedRoute {
  readonly route: string
  /** Its kinds, such as `host`, `regex`, `under`. */
  readonly kinds: readonly string[]
  /** Its pattern, such as `/news/:id`. */
  readonly matches: string
  /** The action that it leads to; a variable has a colon. */
  readonly to: string
}

/** Lists the named routes, in the order in which they are tried. */
export function listNamedRoutes(front: FrontController): readonly ListedNamedRoute[] {
  const { basePath, router } = siteOf(front)
  return [...router.named.values()].reverse().map((route) => ({
    route: route.name,
    kinds: kindsOf(route),
    matches: textOf(route, basePath),
    to: targetOf(route),
  }))
}

/** Lists every action that a request can reach, in the order of registration, and last the error action. */
export function listRoutes(front: FrontController): readonly ListedRoute[] {
  const site = siteOf(front)
  const errorAction = errorActionOf(site)
  const { reachable } = site.dispatcher
  const actions = errorAction === undefined ? reachable : [...reachable, errorAction]
  return actions.map((action) => ({
    ...locateAction(site, action),
    urls: action.isHidden ? [] : [...namedUrlsOf(site, action), ...urlsOf(site, action)],
    methods: action.methods ?? null,
  }))
}

function namedUrlsOf({ router, basePath, names }: Site, action: RegisteredAction): string[] {
  const target = { ...action, action: action.action === CALL ? '*' : action.action }
  return [...router.named.values()].flatMap((route) => {
    const path = pathTo(route, target, names)
    return path === undefined ? [] : [(path === '/' && basePath) || basePath + path]
  })
}
