import { decodeSegment } from '../http/params.ts'
import type { Route } from '../http/route.ts'
import {
  isRouteName,
  parsePattern,
  type RoutePattern,
  routeError,
  type Text,
  type Variable,
  variablesOf,
} from './route-pattern.ts'
import { type RouteNames, type RouteTarget, routeNames } from './route-target.ts'
import { type Pair, writeName, writePairs, writeText } from './segments.ts'

/** One route: a path to a place, and a place to a path. */
export class NamedRoute {
  readonly name: string
  /** Where it leads when it is given nothing. */
  readonly defaults: RouteTarget
  readonly #parts: readonly (Text | Variable)[]
  readonly #takesPairs: boolean
  readonly #variables: ReadonlySet<string>
  readonly #optional: ReadonlySet<string>
  // Keys that a `*` must not set once more.
  readonly #taken: ReadonlySet<string>

  /** @throws {TypeError} With the name of the route, and what it has that it can't have. */
  constructor(name: string, pattern: RoutePattern) {
    const { parts, takesPairs, defaults, optional } = parsePattern(name, pattern)
    this.name = name
    this.defaults = defaults
    this.#parts = parts
    this.#takesPairs = takesPairs
    this.#variables = new Set(variablesOf(parts))
    this.#optional = optional
    this.#taken = new Set([...routeNames, ...this.#variables, ...optional])
  }

  /** Where a path goes, split at its slashes; undefined where it is not of this route. */
  match(segments: readonly string[]): Route | undefined {
    const parts = this.#parts
    if (segments.length > parts.length && !this.#takesPairs) return undefined
    for (let i = 0; i < parts.length; i++) {
      if (!this.#takes(parts[i] as Text | Variable, segments[i])) return undefined
    }
    return this.#route(segments)
  }

  /**
   * The segments that {@link NamedRoute.match} takes to a place.
   *
   * @throws {TypeError} If there are none.
   */
  segmentsOf(place: RouteTarget): string[] {
    const rest = writePairs(this.#rest(place))
    const segments: string[] = []
    for (const part of this.#parts.toReversed()) {
      const isNeeded = segments.length + rest.length > 0 || !this.#isDefault(part, place)
      if (isNeeded) segments.push(this.#write(part, place))
    }
    return [...segments.toReversed(), ...rest]
  }

  #takes(part: Text | Variable, segment: string | undefined): boolean {
    if ('text' in part) {
      if (segment === part.text) return true
      // One URL for one action: what needs no escape is not found under one.
      const isEscaped = part.text !== part.written && segment !== undefined
      return isEscaped && decodeSegment(segment) === part.text
    }
    const { variable, requirement } = part
    if (segment === undefined) return this.#optional.has(variable)
    if (segment === '' && !this.#optional.has(variable)) return false
    return requirement === undefined || requirement.test(read(variable, segment))
  }

  #route(segments: readonly string[]): Route {
    const names: { -readonly [name in keyof RouteNames]: string } = { ...namesOf(this.defaults) }
    const found = new Map<string, string>()
    for (const [i, part] of this.#parts.entries()) {
      const segment = segments[i] ?? ''
      if ('text' in part || segment === '') continue
      if (isRouteName(part.variable)) names[part.variable] = segment
      else found.set(part.variable, segment)
    }
    const pairs = [...found].flat()
    this.#addRest(pairs, segments)
    for (const [key, value] of this.defaults.pairs) {
      if (!found.has(key)) pairs.push(encodeURIComponent(key), encodeURIComponent(value))
    }
    return { ...names, pairs: pairs.join('/'), name: this.name }
  }

  #addRest(pairs: string[], segments: readonly string[]): void {
    for (let i = this.#parts.length; i + 1 < segments.length; i += 2) {
      const [key = '', value = ''] = [segments[i], segments[i + 1]]
      if (!this.#taken.has(decodeSegment(key))) pairs.push(key, value)
    }
  }

  // What is left for the `*`.
  #rest(place: RouteTarget): Pair[] {
    for (const key of routeNames) {
      if (!this.#variables.has(key) && place[key] !== this.defaults[key]) {
        throw routeError(this.name, `always has the ${key} "${this.defaults[key]}"`)
      }
    }
    const rest = place.pairs.filter(([key]) => !this.#variables.has(key))
    const fixed = new Map(this.defaults.pairs.map(([key, value]) => [key, value]))
    const free = rest.filter(([key, value]) => fixed.get(key) !== value)
    for (const [key] of free) {
      if (!this.#takesPairs || this.#taken.has(key)) {
        throw routeError(this.name, `has no place for this "${key}"`)
      }
    }
    return free
  }

  #isDefault(part: Text | Variable, place: RouteTarget): boolean {
    if ('text' in part || !this.#optional.has(part.variable)) return false
    return valueIn(place, part.variable) === valueIn(this.defaults, part.variable)
  }

  #write(part: Text | Variable, place: RouteTarget): string {
    if ('text' in part) return part.written
    const { variable, requirement } = part
    const segment = this.#writeVariable(variable, place)
    if (requirement?.test(read(variable, segment)) === false) {
      throw routeError(this.name, `has no place for this "${variable}"`)
    }
    return segment
  }

  #writeVariable(variable: string, place: RouteTarget): string {
    const what = `the value of "${variable}"`
    if (isRouteName(variable)) {
      return writeName(place[variable], place.sent?.[variable] === place[variable], what)
    }
    const [pair, another] = place.pairs.filter(([key]) => key === variable)
    if (pair === undefined || pair[1] === '') throw routeError(this.name, `needs "${variable}"`)
    if (another !== undefined) throw routeError(this.name, `takes one "${variable}"`)
    return writeText(pair[1], pair[2], what)
  }
}

function namesOf({ module, controller, action }: RouteTarget): RouteNames {
  return { module, controller, action }
}

function valueIn(place: RouteTarget, variable: string): string | undefined {
  if (isRouteName(variable)) return place[variable]
  return place.pairs.find(([key]) => key === variable)?.[1]
}

// Module, controller and action are never decoded.
function read(variable: string, segment: string): string {
  return isRouteName(variable) ? segment : decodeSegment(segment)
}
