import { decodeSegment } from '../http/params.ts'
import type { PathRoute } from './module-route.ts'
import type { NameKeys } from './name-rules.ts'
import {
  type ParsedPattern,
  type PatternSegment,
  parsePattern,
  type RoutePattern,
  routeError,
} from './route-pattern.ts'
import {
  isRouteName,
  type RouteNames,
  type RouteTarget,
  routeNames,
  writeName,
} from './route-target.ts'
import { type Pair, writePairs, writeValue } from './segments.ts'

/** A custom route: it matches the segments of a path, and builds the segments of a target. */
export class NamedRoute {
  readonly name: string
  readonly #pattern: ParsedPattern

  /** @throws {TypeError} If the pattern is invalid; the message has the name of the route and the invalid part. */
  constructor(name: string, pattern: RoutePattern) {
    this.name = name
    this.#pattern = parsePattern(name, pattern)
  }

  /** The target of a path that sets no variable. */
  get defaults(): RouteTarget {
    return this.#pattern.defaults
  }

  /** The literals and the variables of the path. */
  get segments(): readonly PatternSegment[] {
    return this.#pattern.segments
  }

  /** The literal segments of the path, as they are sent. */
  get literals(): readonly string[] {
    return this.segments.flatMap((part) => ('literal' in part ? [part.encoded] : []))
  }

  /** Returns the paths that lead to an action, such as `/article/:id`; `...` stands for pairs. Undefined if none does. */
  pathTo(action: RouteNames, keys: NameKeys): string | undefined {
    const { segments, variables, acceptsPairs } = this.#pattern
    const leads = routeNames.every(
      (key) => variables.has(key) || keys[key](this.defaults[key]) === keys[key](action[key]),
    )
    if (!leads) return undefined
    const parts = segments.map((part) => {
      if ('literal' in part) return part.encoded
      return isRouteName(part.variable) ? action[part.variable] : `:${part.variable}`
    })
    return `/${[...parts, ...(acceptsPairs ? ['...'] : [])].join('/')}`
  }

  /** Returns the route of a path by its segments; undefined if the path does not match. */
  match(segments: readonly string[]): PathRoute | undefined {
    const { segments: parts, acceptsPairs } = this.#pattern
    if (segments.length > parts.length && !acceptsPairs) return undefined
    const isMatch = parts.every((part, i) => this.#accepts(part, segments[i]))
    return isMatch ? this.#toRoute(segments) : undefined
  }

  #accepts(part: PatternSegment, segment: string | undefined): boolean {
    if ('literal' in part) {
      if (segment === part.literal) return true
      // One URL for one action: an encoded form matches only a literal that needs encoding.
      const needsEncoding = part.literal !== part.encoded
      return needsEncoding && segment !== undefined && decodeSegment(segment) === part.literal
    }
    const { variable, requirement } = part
    if (!segment && !this.#pattern.optional.has(variable)) return false
    if (segment === undefined) return true
    return requirement === undefined || requirement.test(decodeValue(variable, segment))
  }

  #toRoute(segments: readonly string[]): PathRoute {
    const { module, controller, action } = this.defaults
    const names = { module, controller, action }
    const values = new Map<string, string>()
    for (const [i, part] of this.#pattern.segments.entries()) {
      const segment = segments[i] ?? ''
      if ('literal' in part || segment === '') continue
      if (isRouteName(part.variable)) names[part.variable] = segment
      else values.set(part.variable, segment)
    }
    const defaults = this.defaults.pairs.filter(({ key }) => !values.has(key))
    const pairs = [
      ...[...values].flat(),
      ...this.#starPairs(segments),
      ...defaults.flatMap(({ key, value }) => [encodeURIComponent(key), encodeURIComponent(value)]),
    ]
    return { ...names, pairs: pairs.join('/'), name: this.name }
  }

  // Returns the keys and values that match the `*`. A last key without a value is dropped.
  #starPairs(segments: readonly string[]): string[] {
    const pairs: string[] = []
    for (let i = this.#pattern.segments.length; i + 1 < segments.length; i += 2) {
      const [key = '', value = ''] = segments.slice(i, i + 2)
      if (!this.#pattern.ownKeys.has(decodeSegment(key))) pairs.push(key, value)
    }
    return pairs
  }

  /**
   * Builds the segments of a path that {@link NamedRoute.match} resolves to a target.
   *
   * @throws {TypeError} If this route has no such path.
   */
  build(target: RouteTarget): string[] {
    for (const key of routeNames) {
      if (!this.#pattern.variables.has(key) && target[key] !== this.defaults[key]) {
        throw routeError(this.name, `always has the ${key} "${this.defaults[key]}"`)
      }
    }
    const segments = writePairs(this.#pairsOutsidePattern(target))
    for (const part of this.#pattern.segments.toReversed()) {
      // A path omits default values at its end.
      if (segments.length === 0 && this.#isDefault(part, target)) continue
      segments.unshift(this.#write(part, target))
    }
    return segments
  }

  // Returns the pairs that neither a variable nor a default sets: only a `*` can match them.
  #pairsOutsidePattern(target: RouteTarget): Pair[] {
    const { variables, acceptsPairs, ownKeys } = this.#pattern
    const defaults = new Map(this.defaults.pairs.map(({ key, value }) => [key, value]))
    const pairs = target.pairs.filter(
      ({ key, value }) => !variables.has(key) && defaults.get(key) !== value,
    )
    const extra = pairs.find(({ key }) => !acceptsPairs || ownKeys.has(key))
    if (extra !== undefined) throw routeError(this.name, `has no variable for "${extra.key}"`)
    return pairs
  }

  #isDefault(part: PatternSegment, target: RouteTarget): boolean {
    if ('literal' in part || !this.#pattern.optional.has(part.variable)) return false
    return valueIn(part.variable, target) === valueIn(part.variable, this.defaults)
  }

  #write(part: PatternSegment, target: RouteTarget): string {
    if ('literal' in part) return part.encoded
    const { variable, requirement } = part
    const segment = isRouteName(variable)
      ? writeName(target, variable)
      : writeValue(this.#pairOf(variable, target))
    if (requirement?.test(decodeValue(variable, segment)) === false) {
      const problem = `has a requirement for "${variable}" that the value does not meet`
      throw routeError(this.name, problem)
    }
    return segment
  }

  #pairOf(variable: string, target: RouteTarget): Pair {
    const [pair, another] = target.pairs.filter(({ key }) => key === variable)
    if (pair === undefined || pair.value === '') throw routeError(this.name, `needs "${variable}"`)
    if (another !== undefined) throw routeError(this.name, `accepts only one "${variable}"`)
    return pair
  }
}

function valueIn(variable: string, target: RouteTarget): string | undefined {
  if (isRouteName(variable)) return target[variable]
  return target.pairs.find(({ key }) => key === variable)?.value
}

// Module, controller and action are never decoded.
function decodeValue(variable: string, segment: string): string {
  return isRouteName(variable) ? segment : decodeSegment(segment)
}
