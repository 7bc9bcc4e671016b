import { decodeSegment } from '../http/params.ts'
import type { Effort } from './expression-program.ts'
import type { PathRoute } from './module-route.ts'
import { MAX_REMEMBERED_LENGTH, type PathText } from './path-text.ts'
import { isSameResource, RestPart } from './rest-part.ts'
import { routeError } from './route-error.ts'
import { matchOnce, OTHER_PATH, originMiss, type RouteLink, variablesOf } from './route-link.ts'
import type { Found, RouteFacts, Segment, Values } from './route-part.ts'
import {
  type CurrentTarget,
  isRouteName,
  mergeTarget,
  type RouteTarget,
  routeNames,
} from './route-target.ts'
import { joinParts, type Pair } from './segments.ts'

interface Match {
  /** The values that each link finds. */
  readonly values: readonly Values[]
  readonly pairs: readonly string[]
  readonly allow: readonly string[] | undefined
}

/** A custom route: a chain of links, the last of which is its own. It matches a path, and builds the path of a target. */
export class NamedRoute {
  readonly name: string
  readonly isAbstract: boolean
  readonly links: readonly RouteLink[]
  /** The target of a path that sets no variable. */
  readonly defaults: RouteTarget
  readonly variables: ReadonlySet<string>
  // The keys that this route sets itself: the pairs of a `*` must not set them.
  readonly #ownKeys: ReadonlySet<string>
  // For each link, the separator of the next one that matches the path; undefined for the last of them.
  readonly #nextSeparators: readonly (string | undefined)[]

  constructor(name: string, links: readonly RouteLink[], isAbstract: boolean) {
    this.name = name
    this.isAbstract = isAbstract
    this.links = links
    const defaults = new Map(links.flatMap((link) => [...link.defaults]))
    this.defaults = mergeTarget(Object.fromEntries(defaults), 'decoded')
    this.variables = new Set(links.flatMap(variablesOf))
    const set = links.flatMap((link) => [...link.defaults].filter(([, value]) => value !== null))
    this.#ownKeys = new Set([...routeNames, ...this.variables, ...set.map(([key]) => key)])
    this.#nextSeparators = links.map(
      (_, i) => links.slice(i + 1).find(({ part }) => part)?.separator,
    )
  }

  /** The segments of its path; undefined if it is not only a path. */
  get segments(): readonly Segment[] | undefined {
    return this.links.length === 1 ? this.links[0]?.part?.segments : undefined
  }

  /** The literal segments of its paths, as they are sent. */
  get literals(): readonly string[] {
    const segments = this.links.flatMap(({ part }) => part?.segments ?? [])
    return segments.flatMap((part) => ('literal' in part ? [part.encoded] : []))
  }

  /** The modules that it leads to. */
  get modules(): readonly string[] {
    const parts = this.links.flatMap(({ part }) => (part instanceof RestPart ? part.modules : []))
    return [this.defaults.module, ...parts]
  }

  /** The first segment of each path that matches; undefined if there are several. */
  get first(): string | undefined {
    const i = this.links.findIndex(({ part }) => part)
    return this.links[i]?.part?.first?.(this.#nextSeparators[i])
  }

  /** Whether V8 has to run an expression of its own, however slow it is. */
  get isUnlimited(): boolean {
    const { host, part } = this.links.at(-1) as RouteLink
    return [host, part].some((each) => each?.expressions?.some(({ isUnlimited }) => isUnlimited))
  }

  /** Whether it matches REST resources. */
  get isRest(): boolean {
    return this.links.some(({ part }) => part?.kind === 'rest')
  }

  /** The scheme that it requires; undefined for any. */
  get scheme(): string | undefined {
    return this.links.findLast(({ scheme }) => scheme)?.scheme
  }

  /** Returns the route of a path, or why the path does not match. */
  match(path: PathText, facts: RouteFacts): PathRoute | string {
    const [only, another] = this.links
    // Most routes have only a path: 10 % of the CPU of a request to one.
    if (another || only?.host || only?.scheme || !only?.part) {
      const match = this.#match(path, facts, this.links)
      return typeof match === 'string' ? match : this.#toRoute(match)
    }
    const found = only.part.match(path, facts)
    if (typeof found === 'string') return found
    const { values, pairs = [], allow } = found
    return this.#toRoute({ values: [values], pairs, allow })
  }

  // Matches a short path first: if it differs, scheme and host are not read, and the router can remember the path without them. To
  // match a long path takes more time than to compare them.
  #match(path: PathText, facts: RouteFacts, links: readonly RouteLink[]): Match | string {
    const isLong = path.raw.length > MAX_REMEMBERED_LENGTH
    const early = isLong ? originMiss(links, facts) : undefined
    const founds = early ?? this.#matchPath(path, facts, links)
    if (typeof founds === 'string') return founds
    const late = isLong ? undefined : originMiss(links, facts)
    if (late !== undefined) return late
    const values: Values[] = []
    for (const [i, { host }] of links.entries()) {
      const labels = host?.match(facts.labels ?? [], path) ?? []
      if (typeof labels === 'string') return labels
      values.push([...labels, ...(founds[i]?.values ?? [])])
    }
    const pairs = founds.flatMap((found) => found?.pairs ?? [])
    return { values, pairs, allow: founds.findLast((found) => found)?.allow }
  }

  // Returns what the part of each link finds; undefined for a link without a part.
  #matchPath(
    path: PathText,
    facts: RouteFacts,
    links: readonly RouteLink[],
  ): readonly (Found | undefined)[] | string {
    // As in ZF1, a chain without a path matches only the root.
    const canMatch = path.raw === '' || links.length < 2 || links.some(({ part }) => part)
    if (!canMatch) return OTHER_PATH
    const founds: (Found | undefined)[] = []
    let rest = path
    for (const [i, { part }] of links.entries()) {
      if (part === undefined) {
        founds.push(undefined)
        continue
      }
      const separator = this.#nextSeparators[i]
      const found = matchOnce(part, rest, facts, separator)
      if (typeof found === 'string') return found
      founds.push(found)
      if (separator === undefined) continue
      const left = rest.after(found.length, separator)
      if (left === undefined) return OTHER_PATH
      rest = left
    }
    return founds
  }

  #toRoute({ values, pairs, allow }: Match): PathRoute {
    const { module, controller, action } = this.defaults
    const names = { module, controller, action }
    const own = new Map<string, string>()
    const [only = []] = values
    const visible = values.length === 1 ? only : values.flatMap((each, i) => this.#visible(each, i))
    for (const [variable, segment] of visible) {
      if (isRouteName(variable)) names[variable] = segment
      else own.set(variable, segment)
    }
    const all: string[] = []
    for (const [variable, segment] of own) all.push(variable, segment)
    for (let i = 0; i < pairs.length; i += 2) {
      const key = pairs[i] ?? ''
      if (!this.#ownKeys.has(decodeSegment(key))) all.push(key, pairs[i + 1] ?? '')
    }
    for (const { key, value } of this.defaults.pairs) {
      if (!own.has(key)) all.push(encodeURIComponent(key), encodeURIComponent(value))
    }
    return { ...names, pairs: all.join('/'), name: this.name, allow }
  }

  // As in ZF1, the defaults of a child win over the variables of its parent.
  #visible(values: Values, i: number): Values {
    const later = this.links.slice(i + 1)
    return later.length === 0
      ? values
      : values.filter(([variable]) => !later.some(({ defaults }) => defaults.has(variable)))
  }

  /** Returns the values that the common parents of this and another route find in a path. */
  sharedWith(other: NamedRoute | undefined, path: PathText, facts: RouteFacts): CurrentTarget {
    const count = this.links.findIndex((link, i) => link !== other?.links[i])
    const shared = this.links.slice(0, count < 0 ? undefined : count)
    const match = other === undefined ? '' : other.#match(path, facts, shared)
    const found = typeof match === 'string' ? [] : match.values
    const values = found.flatMap((each, i) => this.#visible(each, i))
    const pairs = values.filter(([variable]) => !isRouteName(variable))
    return {
      ...Object.fromEntries(values.filter(([variable]) => isRouteName(variable))),
      pairs: pairs.map(([key, segment]): Pair => {
        return { key, value: decodeSegment(segment), encoding: 'received' }
      }),
    }
  }

  /** Reports whether a path of this route leads to a target. */
  leadsTo(target: RouteTarget, found: PathRoute): boolean {
    return routeNames.every((key) =>
      this.isRest && key === 'action'
        ? isSameResource(target.action, found.action)
        : found[key] === target[key],
    )
  }

  /** Returns the host of a target; undefined if the route matches any host. */
  buildHost(target: RouteTarget): string | undefined {
    return this.links.findLast(({ host }) => host)?.host?.build(target)
  }

  /**
   * Builds the paths, without their first slash, that {@link NamedRoute.match} may resolve to a target.
   *
   * @param writesDefaults Whether they also have the default values at their end.
   * @throws {TypeError} If this route has no such path.
   */
  build(target: RouteTarget, effort: Effort, writesDefaults = false): string[] {
    for (const key of routeNames) {
      if (!this.variables.has(key) && target[key] !== this.defaults[key]) {
        throw routeError(this.name, `always has the ${key} "${this.defaults[key]}"`)
      }
    }
    const pairs = this.#pairsOutsidePattern(target)
    let paths: string[] | undefined
    for (const [i, { part, separator }] of this.links.entries()) {
      if (part === undefined) continue
      const isParent = this.#nextSeparators[i] !== undefined
      const built = [part.build(target, pairs, effort, isParent || writesDefaults)].flat()
      paths =
        paths?.flatMap((path) => built.map((each) => joinParts(path, separator, each))) ?? built
    }
    return paths ?? ['']
  }

  // Returns the pairs that neither a variable nor a default sets: only a `*` can match them.
  #pairsOutsidePattern(target: RouteTarget): Pair[] {
    const defaults = new Map(this.defaults.pairs.map(({ key, value }) => [key, value]))
    const pairs = target.pairs.filter(
      ({ key, value }) => !this.variables.has(key) && defaults.get(key) !== value,
    )
    const acceptsPairs = this.links.some(({ part }) => part?.acceptsPairs)
    const isOwn = (key: string): boolean => this.#ownKeys.has(key) && !(this.isRest && key === 'id')
    const extra = pairs.find(({ key }) => !acceptsPairs || isOwn(key))
    if (extra !== undefined) throw routeError(this.name, `has no variable for "${extra.key}"`)
    return pairs
  }
}
