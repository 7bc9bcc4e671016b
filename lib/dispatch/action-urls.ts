import { HttpRequest, stateOf } from '../http/request.ts'
import type { NameKeys } from '../routing/name-rules.ts'
import type { RequestRouter } from '../routing/request-router.ts'
import { CALL } from './controller-hooks.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { RegisteredAction } from './registered-controller.ts'

/** The parts of a front controller that find the action of a URL, and the rule for names. */
export interface SiteParts {
  readonly router: RequestRouter
  readonly dispatcher: Dispatcher
  readonly basePath: string
  readonly names: NameKeys
}

/**
 * Returns the URLs that lead to an action, the shortest first; `...` stands for key/value pairs, and `*` for the names that
 * lead to `__call`.
 */
export function urlsOf(site: SiteParts, action: RegisteredAction): readonly string[] {
  const { module, controller } = action
  const names = [controller, action.action === CALL ? '*' : action.action]
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

// Routes each candidate: /admin does not lead to a controller "admin" if a module has that name.
function leadsTo(site: SiteParts, path: string, action: RegisteredAction): boolean {
  const request = new HttpRequest({ target: site.basePath + path })
  const routed = site.router.route(request)
  const { name, pairs } = stateOf(routed).route ?? {}
  // A named route may take a name as a parameter: with REST, /news/get is the article "get".
  return (name === undefined || !String(pairs)) && site.dispatcher.find(routed) === action
}
