import { checkNames } from '../http/check-options.ts'
import { HostPattern } from './host-pattern.ts'
import { RegexPart } from './regex-part.ts'
import { RestPart } from './rest-part.ts'
import { checkKey } from './route-checks.ts'
import { routeError } from './route-error.ts'
import type { RouteLink } from './route-link.ts'
import type { PathPart } from './route-part.ts'
import { isRouteName } from './route-target.ts'
import { SegmentsPart } from './segments-part.ts'

/**
 * A custom route. It has exactly one of `path`, `regex` and `rest`, unless it has only a `host`.
 *
 * A mistake is a `TypeError` of the front controller, which names the route and the member.
 */
export type RoutePattern = {
  /**
   * The path, such as `/news/:id`. Each segment is a literal or a variable. A `*` at the end accepts
   * key/value pairs. `::` at the start of a segment stands for a colon.
   */
  readonly path?: string | undefined
  /**
   * A regular expression for the whole path, without its outer slashes and percent-decoded, such as `archive/(\\d{4})`.
   * A string ignores case; of a `RegExp`, the flags `i` and `u` count. As a parent, it matches the start of the path.
   * Its values for `module`, `controller` and `action` must be unencoded in the path.
   */
  readonly regex?: string | RegExp | undefined
  /**
   * The variables of the groups of `regex`, either way round: `{ 1: 'year' }` or `{ year: 1 }` (default: the name of
   * the group, else its number). A group that matched nothing sets no parameter.
   */
  readonly map?: Readonly<Record<string, string | number>> | undefined
  /**
   * The format of the URLs of `regex`, with a placeholder for each group: `%s`, `%d` for a whole number, or `%1$s` with
   * the number of the group (default: the route makes no URL).
   */
  readonly reverse?: string | undefined
  /**
   * REST resources: `true` for all modules, a list of modules, or the controllers of each module. The method chooses the
   * action: `index`, `get`, `post`, `put`, `patch`, `delete`, `head` and `options`; `new` and `edit` are pages.
   */
  readonly rest?: true | readonly string[] | Readonly<Record<string, readonly string[]>> | undefined
  /**
   * The host of the request without its port, such as `:account.news.example`; it ignores case. A variable is one label,
   * and a parameter in lower case (default: any host).
   */
  readonly host?: string | undefined
  /** The protocol of the request (default: any). */
  readonly scheme?: 'http' | 'https' | undefined
  /** The name of the parent: this route matches what the parent leaves of the path (default: no parent). */
  readonly under?: string | undefined
  /** The text between the path of the parent and this one (default `/`); another one must follow text or a regex. */
  readonly separator?: string | undefined
  /** Whether it matches only as the parent of another route (default false). */
  readonly abstract?: boolean | undefined
  /**
   * The target (`module`, `controller` and `action`; default `default`, `index` and `index`), and the
   * values of variables that a path may omit at its end. `null` lets a path omit a variable, which then
   * sets no pair.
   */
  readonly defaults?: Readonly<Record<string, string | number | null>> | undefined
  /** A regular expression for variables of `path` and `host`. It must match the whole decoded value. */
  readonly requirements?: Readonly<Record<string, string | RegExp>> | undefined
} & (
  | Record<'path', string>
  | Record<'regex', string | RegExp>
  | Record<'rest', true | object>
  | Record<'host', string>
)

type Member = keyof RoutePattern

/** Routes by name. The last route is tried first. */
export type RoutePatterns =
  | ReadonlyMap<string, RoutePattern>
  | Readonly<Record<string, RoutePattern>>

/** A parsed {@link RoutePattern}. @internal */
export interface ParsedRoute {
  readonly link: RouteLink
  readonly under: string | undefined
  readonly isAbstract: boolean
}

const MEMBERS: readonly Member[] = [
  'path',
  'regex',
  'map',
  'reverse',
  'rest',
  'host',
  'scheme',
  'under',
  'separator',
  'abstract',
  'defaults',
  'requirements',
]

/** Parses a pattern. A TypeError has the name of the route and the invalid member. @internal */
export function parsePattern(name: string, pattern: RoutePattern): ParsedRoute {
  if (name === 'default') throw routeError(name, 'is built in: choose another name')
  checkMembers(name, pattern)
  const { host: hostText, requirements = {}, scheme, under, separator = '/' } = pattern
  const ownDefaults = checkedDefaults(name, pattern.defaults ?? {})
  const part = partOf(name, pattern, ownDefaults)
  const defaults = defaultsOf(part, ownDefaults)
  const host =
    hostText === undefined ? undefined : new HostPattern(name, hostText, requirements, defaults)
  const twice = [...(host?.variables ?? [])].find((variable) => part?.variables.has(variable))
  if (twice !== undefined && part?.kind !== 'rest') {
    throw routeError(name, `has the variable "${twice}" in both "host" and "${part?.kind}"`)
  }
  const variables = [...(host?.variables ?? []), ...(part?.kind === 'path' ? part.variables : [])]
  const unknown = Object.keys(requirements).find((key) => !variables.includes(key))
  if (unknown !== undefined) {
    throw routeError(name, `has a requirement for "${unknown}", but no such variable`)
  }
  const link = { scheme, host, part, separator, defaults }
  return { link, under, isAbstract: pattern.abstract ?? false }
}

function checkMembers(name: string, pattern: RoutePattern): void {
  const has = (member: Member): boolean => pattern?.[member] !== undefined
  const [kind, another] = (['path', 'regex', 'rest'] as const).filter(has)
  if (kind === undefined && !has('host')) {
    throw routeError(name, 'has no "path", "regex", "rest" or "host"')
  }
  if (another !== undefined) throw routeError(name, `has "${kind}" and "${another}": expected one`)
  checkNames(`fields of the route "${name}"`, pattern, MEMBERS)
  const { scheme, abstract = false, map = {}, under } = pattern
  for (const [member, needed] of [
    ['map', 'regex'],
    ['reverse', 'regex'],
    ['separator', 'under'],
  ] as const) {
    if (has(member) && !has(needed)) throw routeError(name, `has "${member}" without "${needed}"`)
  }
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw routeError(name, 'has an invalid "scheme": expected "http" or "https"')
  }
  if (typeof abstract !== 'boolean') throw routeError(name, 'has an invalid "abstract"')
  if (under !== undefined && typeof under !== 'string') {
    throw routeError(name, 'has an invalid "under": expected the name of a route')
  }
  if (Object(map) !== map) throw routeError(name, 'has an invalid "map"')
}

function partOf(
  name: string,
  pattern: RoutePattern,
  defaults: RouteLink['defaults'],
): PathPart | undefined {
  const { path, regex, map, reverse, rest, requirements = {}, separator = '/' } = pattern
  if (typeof separator !== 'string' || !/^[\w.~!$&'()*+,;=:@/-]+$/.test(separator)) {
    throw routeError(name, 'has an invalid "separator": expected text such as "-"')
  }
  if (regex !== undefined) return new RegexPart(name, { regex, map, reverse })
  if (rest !== undefined) return new RestPart(name, rest, defaults)
  if (path === undefined) return undefined
  if (typeof path !== 'string') throw routeError(name, 'has an invalid "path": expected text')
  return new SegmentsPart(name, path, requirements, defaults)
}

function checkedDefaults(
  name: string,
  defaults: NonNullable<RoutePattern['defaults']>,
): RouteLink['defaults'] {
  for (const [key, value] of Object.entries(defaults)) {
    if (isRouteName(key)) {
      if (typeof value === 'string' && value !== '') continue
      throw routeError(name, `has an invalid default "${key}": expected text that is not empty`)
    }
    if (typeof value !== 'string' && typeof value !== 'number' && value !== null) {
      throw routeError(name, `has an invalid default "${key}": expected text, a number or null`)
    }
    checkKey(name, key)
  }
  return new Map(Object.entries(defaults))
}

function defaultsOf(part: PathPart | undefined, own: RouteLink['defaults']): RouteLink['defaults'] {
  // As in ZF1, a REST route takes no names of its parent.
  if (part instanceof RestPart) return new Map([...part.names, ...own])
  if (!(part instanceof RegexPart)) return own
  return new Map([...own].map(([key, value]) => [part.variableOf(key), value]))
}
