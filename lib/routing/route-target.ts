import type { Route } from '../http/route.ts'
import { routeError } from './route-error.ts'
import { checkSegment, type Pair, type PairEncoding, writeValue } from './segments.ts'

/** The names in a route. */
export type RouteNames = Pick<Route, 'module' | 'controller' | 'action'>

/** The target of a URL: the names and the key/value pairs that routing finds in it. */
export interface RouteTarget extends RouteNames {
  readonly pairs: readonly Pair[]
  /** The names that the client sent, if the target was derived from a request. */
  readonly received?: Partial<RouteNames> | undefined
}

/** The values of the current request that a URL takes over. */
export type CurrentTarget = Partial<RouteNames> & Pick<RouteTarget, 'pairs'>

/** The keys of the names, in the order of the default route. */
export const routeNames = ['module', 'controller', 'action'] as const

// The target of a route that sets nothing.
const DEFAULT_TARGET: RouteTarget = {
  module: 'default',
  controller: 'index',
  action: 'index',
  pairs: [],
}

/** Reports whether a key is `module`, `controller` or `action`. */
export function isRouteName(key: string): key is keyof RouteNames {
  return (routeNames as readonly string[]).includes(key)
}

// Matches a name in ASCII, also one that a browser would have encoded. It has no characters that end an HTML
// attribute, and no leading backslash: browsers read that as a second slash, and the rest as a host.
const RECEIVED_NAME = /^(?!\\)[^\0-\x20"<>`/?#\x7f-\uffff]+$/

/**
 * Writes a name of a target as a segment: unchanged, because routing never decodes it.
 *
 * @throws {TypeError} If no segment can hold the name.
 */
export function writeName(target: RouteTarget, key: keyof RouteNames): string {
  const name = target[key]
  const what = `the ${key} "${name}"`
  if (name === '') throw new TypeError(`No URL can hold ${what}`)
  const isReceived = target.received?.[key] === name
  return isReceived && RECEIVED_NAME.test(name) ? name : checkSegment(name, what)
}

/** Returns the value that a target has for a variable. */
export function valueIn(variable: string, target: RouteTarget): string | undefined {
  if (isRouteName(variable)) return target[variable]
  return target.pairs.find(({ key }) => key === variable)?.value
}

/**
 * Writes the value of a variable as a segment.
 *
 * @throws {TypeError} If there is no value, or no segment can hold it.
 */
export function writeVariable(
  name: string,
  variable: string,
  target: RouteTarget,
  canBeEmpty = false,
): string {
  if (isRouteName(variable)) return writeName(target, variable)
  const [pair, another] = target.pairs.filter(({ key }) => key === variable)
  if (pair === undefined || (pair.value === '' && !canBeEmpty)) {
    throw routeError(name, `needs "${variable}"`)
  }
  if (another !== undefined) throw routeError(name, `accepts only one "${variable}"`)
  return writeValue(pair)
}

/**
 * Merges the defaults of a route, the target of the current request, and parameters. Later values
 * overwrite earlier ones.
 *
 * @param encoding How the parameters become pairs.
 * @throws {TypeError} If a value is not a string, a number or a list of those; the message has its key.
 */
export function mergeTarget(
  params: Readonly<Record<string, unknown>>,
  encoding: PairEncoding,
  current?: CurrentTarget,
  defaults: RouteTarget = DEFAULT_TARGET,
): RouteTarget {
  const values = new Map(Object.entries(params).map(([key, value]) => [key, toTexts(key, value)]))
  const { module, controller, action } = defaults
  const names = { module, controller, action }
  for (const key of routeNames) {
    const [name] = values.get(key) ?? [current?.[key]]
    if (name !== undefined) names[key] = name
    values.delete(key)
  }
  const kept = (current?.pairs ?? []).filter(({ key }) => !values.has(key))
  const added = [...values].flatMap(([key, texts]) =>
    texts.map((value): Pair => ({ key, value, encoding })),
  )
  const pairs = [...kept, ...added]
  const missing = defaults.pairs.filter(({ key }) => !pairs.some((each) => each.key === key))
  return { ...names, pairs: [...pairs, ...missing], received: current }
}

// Returns an empty list for null and undefined.
function toTexts(key: string, value: unknown): string[] {
  const items: unknown[] = [value ?? []].flat()
  if (isRouteName(key) && (items.length > 1 || typeof (items[0] ?? '') !== 'string')) {
    throw new TypeError(`Expected the ${key} of a URL to be a string`)
  }
  return items.map((each) => {
    if (typeof each === 'string' || typeof each === 'number') return String(each)
    throw new TypeError(`Expected "${key}" to be a string, a number or a list of those`)
  })
}
