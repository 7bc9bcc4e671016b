import type { UrlParams } from '../http/url-params.ts'
import { type Pair, type PairEncoding, writeName } from './segments.ts'

/** The names of a route target. */
export interface RouteNames {
  readonly module: string
  readonly controller: string
  readonly action: string
}

/** The target of a URL: the names and the key/value pairs that routing finds in it. */
export interface RouteTarget extends RouteNames {
  readonly pairs: readonly Pair[]
  /** The names that the client sent, if the target was derived from a request. */
  readonly received?: RouteNames | undefined
}

/** The keys of the names, in the order of the default route. */
export const routeNames = ['module', 'controller', 'action'] as const

/** The target of a route that sets nothing. */
export const DEFAULT_TARGET: RouteTarget = {
  module: 'default',
  controller: 'index',
  action: 'index',
  pairs: [],
}

/** Reports whether a key is `module`, `controller` or `action`. */
export function isRouteName(key: string): key is keyof RouteNames {
  return (routeNames as readonly string[]).includes(key)
}

/**
 * Writes a name of a target as a segment.
 *
 * @throws {TypeError} If no segment can hold the name.
 */
export function writeTargetName(target: RouteTarget, key: keyof RouteNames): string {
  const name = target[key]
  return writeName(name, target.received?.[key] === name, `the ${key} "${name}"`)
}

/**
 * Merges the defaults of a route, the target of the current request, and parameters. Later values
 * overwrite earlier ones.
 *
 * @param encoding How the parameters become pairs.
 * @throws {TypeError} If a value is not a string, a number or a list of those; the message has its key.
 */
export function mergeTarget(
  params: UrlParams,
  encoding: PairEncoding,
  current: RouteTarget | undefined,
  defaults: RouteTarget,
): RouteTarget {
  const values = new Map(Object.entries(params).map(([key, value]) => [key, toTexts(key, value)]))
  const nameOf = (key: keyof RouteNames): string => {
    const [name] = values.get(key) ?? [current?.[key]]
    return name ?? defaults[key]
  }
  const names = {
    module: nameOf('module'),
    controller: nameOf('controller'),
    action: nameOf('action'),
  }
  for (const key of routeNames) values.delete(key)
  const kept = (current?.pairs ?? []).filter(({ key }) => !values.has(key))
  const added = [...values].flatMap(([key, texts]) =>
    texts.map((value): Pair => ({ key, value, encoding })),
  )
  return { ...names, pairs: withDefaults([...kept, ...added], defaults.pairs), received: current }
}

function withDefaults(pairs: readonly Pair[], defaults: readonly Pair[]): readonly Pair[] {
  const keys = new Set(pairs.map(({ key }) => key))
  return [...pairs, ...defaults.filter(({ key }) => !keys.has(key))]
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
