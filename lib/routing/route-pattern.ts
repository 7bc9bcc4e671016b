import { checkNames } from '../http/check-options.ts'
import { isReserved } from '../http/params.ts'
import { withoutOuterSlashes } from './module-route.ts'
import { DEFAULT_TARGET, type RouteNames, type RouteTarget, routeNames } from './route-target.ts'
import { encodeSegment, isSegment } from './segments.ts'

/** A route of one's own, as Zend_Controller_Router_Route has them. */
export interface RoutePattern {
  /**
   * Whole segments, each a text or a variable, such as `/news/:id`; a `*` at the end takes key/value
   * pairs; `::` stands for a colon that begins a text.
   */
  readonly path: string
  /**
   * Where it leads (`module`, `controller`, `action`; default `default`, `index`, `index`), and what the
   * path may leave out at its end. A variable that is null may be left out, and is no pair then.
   */
  readonly defaults?: Readonly<Record<string, string | number | null>> | undefined
  /** What the whole of a variable must match, decoded. */
  readonly requirements?: Readonly<Record<string, string | RegExp>> | undefined
}

/** Routes by their names, the last one tried first. */
export type RoutePatterns =
  | ReadonlyMap<string, RoutePattern>
  | Readonly<Record<string, RoutePattern>>

/** A segment that stands as it is. */
export interface Text {
  readonly text: string
  /** As it stands in a URL. */
  readonly written: string
}

/** A segment that may be anything, or what it is required to be. */
export interface Variable {
  readonly variable: string
  readonly requirement: RegExp | undefined
}

type Defaults = Readonly<Record<string, string | number | null>>
type Requirements = Readonly<Record<string, string | RegExp>>

interface CheckedPattern {
  readonly path: string
  readonly defaults: Defaults
  readonly requirements: Requirements
}

const FIELDS: readonly (keyof RoutePattern)[] = ['path', 'defaults', 'requirements']

/** A pattern, read. */
export interface ParsedPattern {
  readonly parts: readonly (Text | Variable)[]
  /** Whether a `*` stands at its end. */
  readonly takesPairs: boolean
  /** Where it leads when it is given nothing. */
  readonly defaults: RouteTarget
  /** What may be left out: what has a default, null too. */
  readonly optional: ReadonlySet<string>
}

/** @throws {TypeError} With the name of the route, and what it has that it can't have. */
export function parsePattern(name: string, pattern: RoutePattern): ParsedPattern {
  const { path, defaults, requirements } = checkedPattern(name, pattern)
  const segments = splitPath(path)
  const takesPairs = segments.at(-1) === '*'
  if (takesPairs) segments.pop()
  const parts = segments.map((segment) => toPart(name, segment, requirements))
  checkVariables(name, variablesOf(parts), Object.keys(requirements))
  return {
    parts,
    takesPairs,
    defaults: toPlace(defaults),
    optional: new Set(Object.keys(defaults)),
  }
}

/** The variables of a path, in its order. */
export function variablesOf(parts: readonly (Text | Variable)[]): readonly string[] {
  return parts.flatMap((part) => ('variable' in part ? [part.variable] : []))
}

function checkVariables(
  name: string,
  variables: readonly string[],
  required: readonly string[],
): void {
  const twice = variables.find((variable, at) => variables.indexOf(variable) < at)
  if (twice !== undefined) throw routeError(name, `has the variable "${twice}" twice`)
  const unknown = required.find((key) => !variables.includes(key))
  if (unknown !== undefined) {
    throw routeError(name, `has a requirement for "${unknown}", and no such variable`)
  }
}

function checkedPattern(name: string, pattern: RoutePattern): CheckedPattern {
  if (name === 'default') throw new TypeError('The route "default" is the built-in one')
  if (typeof pattern?.path !== 'string') throw routeError(name, 'has no "path"')
  const { path, defaults = {}, requirements = {} } = pattern
  checkNames(`fields of the route "${name}"`, pattern, FIELDS)
  for (const [key, value] of Object.entries(defaults)) {
    const isValue = isRouteName(key)
      ? isText(value) && value !== ''
      : isText(value) || isLoose(value)
    if (!isValue) throw routeError(name, `has a default "${key}" that is no text`)
    checkKey(name, key)
  }
  return { path, defaults, requirements }
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isLoose(value: unknown): boolean {
  return typeof value === 'number' || value === null
}

function toPart(name: string, segment: string, requirements: Requirements): Text | Variable {
  if (!segment.startsWith(':') || segment.startsWith('::')) return toText(name, segment)
  const variable = segment.slice(1)
  if (!/^[\w-]+$/.test(variable))
    throw routeError(name, `has a variable "${segment}" without a name`)
  checkKey(name, variable)
  const given = Object.hasOwn(requirements, variable) ? requirements[variable] : undefined
  return {
    variable,
    requirement: given === undefined ? undefined : toRequirement(name, variable, given),
  }
}

function toText(name: string, segment: string): Text {
  const text = segment.startsWith('::') ? segment.slice(1) : segment
  const isText = text !== '' && text !== '*' && !/[%?#\\]/.test(text)
  if (!isText) throw routeError(name, `has a path with the segment "${segment}"`)
  return { text, written: isSegment(text) ? text : encodeSegment(text, `the segment "${text}"`) }
}

function toRequirement(name: string, variable: string, given: string | RegExp): RegExp {
  if (typeof given !== 'string' && !(given instanceof RegExp)) {
    throw routeError(name, `has a requirement for "${variable}" that is no regular expression`)
  }
  const { source, flags } = typeof given === 'string' ? { source: given, flags: '' } : given
  try {
    return new RegExp(`^(?:${source})$`, flags.includes('i') ? 'iu' : 'u')
  } catch (cause) {
    const problem = `has a requirement for "${variable}" that is no regular expression`
    throw new TypeError(`The route "${name}" ${problem}`, { cause })
  }
}

function toPlace(defaults: Defaults): RouteTarget {
  const present = Object.entries(defaults).filter(([, value]) => value !== null)
  const texts = new Map(present.map(([key, value]) => [key, String(value)]))
  const [module, controller, action] = routeNames.map(
    (key) => texts.get(key) ?? DEFAULT_TARGET[key],
  ) as [string, string, string]
  for (const key of routeNames) texts.delete(key)
  return { module, controller, action, pairs: [...texts] }
}

// A pair of such a name would be there, and never be seen.
function checkKey(name: string, key: string): void {
  if (!isRouteName(key) && isReserved(key)) {
    throw routeError(name, `must not set "${key}", which is reserved`)
  }
}

/** Whether a key is one of the three names. */
export function isRouteName(key: string): key is keyof RouteNames {
  return (routeNames as readonly string[]).includes(key)
}

/** The segments of a path; none of `/`. */
export function splitPath(path: string): string[] {
  const trimmed = withoutOuterSlashes(path)
  return trimmed === '' ? [] : trimmed.split('/')
}

/** What is wrong with a route, or with what it is given. */
export function routeError(name: string, problem: string): TypeError {
  return new TypeError(`The route "${name}" ${problem}`)
}
