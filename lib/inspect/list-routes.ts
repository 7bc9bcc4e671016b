import type { RegisteredAction } from '../dispatch/dispatcher.ts'
import type { FrontController } from '../dispatch/front-controller.ts'
import { HttpRequest } from '../http/request.ts'
import { type ActionLocation, errorActionOf, locateAction, type Site, siteOf } from './site.ts'

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
  const reachable = site.dispatcher.actions.filter(({ isHidden }) => !isHidden)
  const actions = errorAction === undefined ? reachable : [...reachable, errorAction]
  return actions.map((action) => ({
    ...locateAction(site, action),
    urls: action.isHidden ? [] : urlsOf(site, action),
    methods: action.methods ?? null,
  }))
}

// Routes each candidate: /admin does not lead to a controller "admin" if a module has that name.
function urlsOf(site: Site, action: RegisteredAction): readonly string[] {
  const { module, controller } = action
  const names = [controller, action.action]
  const starts = module === 'default' ? [[], [module]] : [[module]]
  for (const start of starts) {
    const urls = [start, [...start, controller], [...start, ...names, '...']]
      .map((segments) => `/${segments.join('/')}`)
      .filter((path) => leadsTo(site, path, action))
      .map((path) => (path === '/' && site.basePath !== '' ? site.basePath : site.basePath + path))
    // The long name, /default/news, is listed only if no short one leads there.
    if (urls.length > 0) return urls
  }
  return []
}

function leadsTo(site: Site, path: string, action: RegisteredAction): boolean {
  const request = new HttpRequest({ target: site.basePath + path })
  return site.dispatcher.find(site.router.route(request)) === action
}
