import { checkNames } from '../http/check-options.ts'
import { isReserved } from '../http/params.ts'
import { isRouteName, mergeTarget, type RouteTarget, routeNames } from './route-target.ts'
import { encodeSegment, isSegment, splitPath } from './segments.ts'

/** A custom route, with the syntax of Zend_Controller_Router_Route. */
export interface RoutePattern {
  /**
   * The path, such as `/news/:id`. Each segment is a literal or a variable. A `*` at the end accepts
   * key/value pairs. `::` at the start of a segment stands for a colon.
   */
  readonly path: string
  /**
   * The target (`module`, `controller` and `action`; default `default`, `index` and `index`), and the
   * values of variables that a path may omit at its end. `null` lets a path omit a variable, which then
   * sets no pair.
   */
  readonly defaults?: Readonly<Record<string, string | number | null>> | undefined
  /** A regular expression for each variable. It must match the whole decoded value. */
  readonly requirements?: Readonly<Record<string, string | RegExp>> | undefined
}

/** Routes by name. The last route is tried first. */
export type RoutePatterns =
  | ReadonlyMap<string, RoutePattern>
  | Readonly<Record<string, RoutePattern>>

/** A segment of a pattern: a literal, with its text as a URL has it, or a variable with its requirement. @internal */
export type PatternSegment =
  | { readonly literal: string; readonly encoded: string }
  | { readonly variable: string; readonly requirement: RegExp | undefined }

/** A parsed {@link RoutePattern}. @internal */
export interface ParsedPattern {
  readonly segments: readonly PatternSegment[]
  readonly variables: ReadonlySet<string>
  /** Whether the path ends in a `*`. */
  readonly acceptsPairs: boolean
  /** The target of a path that sets no variable. */
  readonly defaults: RouteTarget
  /** The keys of all defaults, null included: a path may omit these variables. */
  readonly optional: ReadonlySet<string>
  /** The keys that the pairs of the `*` must not set. */
  readonly ownKeys: ReadonlySet<string>
}

type Defaults = NonNullable<RoutePattern['defaults']>
type Requirements = NonNullable<RoutePattern['requirements']>

/** Parses a pattern. A TypeError has the name of the route and the invalid part. @internal */
export function parsePattern(name: string, pattern: RoutePattern): ParsedPattern {
  if (name === 'default') throw routeError(name, 'is built in: choose another name')
  if (typeof pattern?.path !== 'string') throw routeError(name, 'has no "path"')
  checkNames(`fields of the route "${name}"`, pattern, ['path', 'defaults', 'requirements'])
  const { path, defaults = {}, requirements = {} } = pattern
  checkDefaults(name, defaults)
  const parts = splitPath(path)
  const acceptsPairs = parts.at(-1) === '*'
  if (acceptsPairs) parts.pop()
  const segments = parts.map((part) => toSegment(name, part, requirements))
  const variables = segments.flatMap((each) => ('variable' in each ? [each.variable] : []))
  checkVariables(name, variables, Object.keys(requirements))
  const optional = Object.keys(defaults)
  return {
    segments,
    variables: new Set(variables),
    acceptsPairs,
    defaults: mergeTarget(defaults, 'decoded'),
    optional: new Set(optional),
    ownKeys: new Set([...routeNames, ...variables, ...optional]),
  }
}

function checkDefaults(name: string, defaults: Defaults): void {
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
}

function checkVariables(name: string, variables: readonly string[], keys: readonly string[]): void {
  const repeated = variables.find((variable, at) => variables.indexOf(variable) < at)
  if (repeated !== undefined) throw routeError(name, `has the variable "${repeated}" twice`)
  const unknown = keys.find((key) => !variables.includes(key))
  if (unknown !== undefined) {
    throw routeError(name, `has a requirement for "${unknown}", but no such variable`)
  }
}

// Only routing sets reserved names: a pair with such a key would never be read.
function checkKey(name: string, key: string): void {
  if (!isRouteName(key) && isReserved(key)) {
    throw routeError(name, `must not set "${key}", which is reserved`)
  }
}

function toSegment(name: string, part: string, requirements: Requirements): PatternSegment {
  if (!part.startsWith(':') || part.startsWith('::')) return toLiteral(name, part)
  const variable = part.slice(1)
  if (!/^[\w-]+$/.test(variable)) {
    throw routeError(name, `has an invalid variable "${part}": expected a name such as ":id"`)
  }
  checkKey(name, variable)
  const value = Object.hasOwn(requirements, variable) ? requirements[variable] : undefined
  const requirement = value === undefined ? undefined : toRequirement(name, variable, value)
  return { variable, requirement }
}

function toLiteral(name: string, part: string): PatternSegment {
  const literal = part.startsWith('::') ? part.slice(1) : part
  if (literal === '' || literal === '*' || /[%?#\\]/.test(literal)) {
    throw routeError(name, `has an invalid path segment "${part}"`)
  }
  const encoded = isSegment(literal) ? literal : encodeSegment(literal, `the segment "${literal}"`)
  return { literal, encoded }
}

function toRequirement(name: string, variable: string, value: unknown): RegExp {
  const problem = `has a requirement for "${variable}" that is not a regular expression`
  if (typeof value !== 'string' && !(value instanceof RegExp)) throw routeError(name, problem)
  const { source, flags } = typeof value === 'string' ? { source: value, flags: '' } : value
  try {
    return new RegExp(`^(?:${source})$`, flags.includes('i') ? 'iu' : 'u')
  } catch (cause) {
    throw routeError(name, problem, { cause })
  }
}

/** Returns the error of an invalid route, or of values that a route cannot hold. */
export function routeError(name: string, problem: string, options?: ErrorOptions): TypeError {
  return new TypeError(`The route "${name}" ${problem}`, options)
}
