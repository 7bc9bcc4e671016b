import { fullName } from '../http/route.ts'
import type { NamedRoute } from '../routing/named-route.ts'

/** Returns what a route has, such as `host`, `regex`, `under`. */
export function kindsOf({ links, isAbstract }: NamedRoute): readonly string[] {
  const { scheme, host, part } = links.at(-1) ?? {}
  const kinds = [scheme && 'scheme', host && 'host', part?.kind, links.length > 1 && 'under']
  return [...kinds, isAbstract && 'abstract'].filter((kind) => typeof kind === 'string')
}

/** Returns what a route matches, such as `https://:account.news.example/news/:id`. */
export function textOf({ links, scheme }: NamedRoute, basePath = ''): string {
  const host = links.findLast((link) => link.host)?.host?.text
  const origin = host || scheme ? `${scheme ? `${scheme}:` : ''}//${host ?? '*'}` : ''
  let path = ''
  for (const { part, separator } of links) {
    if (part) path += (path === '' ? '' : separator) + part.text
  }
  return `${origin}${basePath}/${path}`
}

/** Returns the action that a route leads to; a variable has a colon. */
export function targetOf({ defaults, variables }: NamedRoute): string {
  const nameOf = (key: 'module' | 'controller' | 'action'): string =>
    variables.has(key) ? `:${key}` : defaults[key]
  return fullName({
    module: nameOf('module'),
    controller: nameOf('controller'),
    action: nameOf('action'),
  })
}
