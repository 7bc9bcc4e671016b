import { urlsOf } from '../dispatch/action-urls.ts'
import { CALL } from '../dispatch/controller-hooks.ts'
import type { FrontController } from '../dispatch/front-controller.ts'
import type { RegisteredAction } from '../dispatch/registered-controller.ts'
import { type ActionLocation, errorActionOf, locateAction, type Site, siteOf } from './site.ts'

/** An action with the URLs that lead to it. */
export interface ListedRoute extends ActionLocation {
  /** The URLs that lead to the action: those of named routes, then the others, the shortest first; `...` stands for pairs. */
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
    urls: action.isHidden ? [] : [...namedUrlsOf(site, action), ...urlsOf(site, action)],
    methods: action.methods ?? null,
  }))
}

function namedUrlsOf({ router, basePath, names }: Site, action: RegisteredAction): string[] {
  const target = { ...action, action: action.action === CALL ? '*' : action.action }
  return [...router.named.values()].flatMap((route) => {
    const path = route.pathTo(target, names)
    return path === undefined ? [] : [(path === '/' && basePath) || basePath + path]
  })
}
