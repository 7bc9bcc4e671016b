import type { NamedAction } from '../dispatch/dispatcher.ts'
import { HttpRequest } from '../http/request.ts'
import { errorActionOf, type Site, type WrittenAction, written } from './site.ts'

/** An action, and what it is reached by. */
export interface ListedRoute extends WrittenAction {
  /** Every URL that leads to it, the shortest first; `...` stands for its pairs of key and value. */
  readonly urls: readonly string[]
  /** null for all of them. */
  readonly methods: readonly string[] | null
}

/** Every action that can be asked for, in the order of registration, and last the one that answers for errors. */
export function listRoutes(site: Site): readonly ListedRoute[] {
  const errorAction = errorActionOf(site)
  const asked = site.actions.filter(({ isHidden }) => !isHidden)
  const actions = errorAction === undefined ? asked : [...asked, errorAction]
  return written(site, actions).map((action, i) => ({
    ...action,
    urls: urlsOf(site, actions[i]),
    methods: actions[i]?.found.methods ?? null,
  }))
}

// Each is tried: a controller with the name of a module, say, can't be reached by its own name alone.
function urlsOf(site: Site, action: NamedAction | undefined): readonly string[] {
  if (action === undefined || action.isHidden) return []
  const { module, controller } = action
  const names = [controller, action.action]
  const starts = module === 'default' ? [[], [module]] : [[module]]
  for (const start of starts) {
    const urls = [start, [...start, controller], [...start, ...names, '...']]
      .map((segments) => `/${segments.join('/')}`)
      .filter((path) => leadsTo(site, path, action))
      .map((path) => (path === '/' && site.basePath !== '' ? site.basePath : site.basePath + path))
    // What has a short name is not listed by its long one, /default/news, too.
    if (urls.length > 0) return urls
  }
  return []
}

function leadsTo(site: Site, path: string, { found }: NamedAction): boolean {
  const request = new HttpRequest({ target: site.basePath + path })
  return site.dispatcher.find(site.route(request)) === found
}
