import type { UrlParams } from '../http/url-params.ts'
import type { Pair } from './segments.ts'

/** The three names of a place. */
export interface RouteNames {
  readonly module: string
  readonly controller: string
  readonly action: string
}

/** Where a URL leads, whole. */
export interface RouteTarget extends RouteNames {
  readonly pairs: readonly Pair[]
  /** What it is made from: the place where a request is. */
  readonly sent?: RouteNames | undefined
}

/** The names, in the order of the default route. */
export const routeNames = ['module', 'controller', 'action'] as const

/** Where a route leads that is given nothing. */
export const DEFAULT_TARGET: RouteTarget = {
  module: 'default',
  controller: 'index',
  action: 'index',
  pairs: [],
}

/**
 * What is given, over the place where a request is, over the defaults of a route.
 *
 * @param encode Whether what is given is to be encoded; false where it is.
 * @throws {TypeError} With the key whose value is none.
 */
export function mergeTarget(
  params: UrlParams,
  current: RouteTarget | undefined,
  defaults: RouteTarget,
  encode: boolean,
): RouteTarget {
  const given = new Map(Object.entries(params).map(([key, value]) => [key, texts(key, value)]))
  const name = (key: keyof RouteNames): string => {
    const [text] = given.get(key) ?? [current?.[key]]
    return text ?? defaults[key]
  }
  const [module, controller, action] = routeNames.map(name) as [string, string, string]
  for (const key of routeNames) given.delete(key)
  const kept = (current?.pairs ?? []).filter(([key]) => !given.has(key))
  const added = [...given].flatMap(([key, values]) =>
    values.map((value): Pair => (encode ? [key, value] : [key, value, 'encoded'])),
  )
  const pairs = withDefaults([...kept, ...added], defaults.pairs)
  return { module, controller, action, pairs, sent: current }
}

function withDefaults(pairs: readonly Pair[], defaults: readonly Pair[]): readonly Pair[] {
  const keys = new Set(pairs.map(([key]) => key))
  return [...pairs, ...defaults.filter(([key]) => !keys.has(key))]
}

function texts(key: string, value: unknown): string[] {
  const values: unknown[] = [value ?? []].flat()
  const isName = (routeNames as readonly string[]).includes(key)
  if (isName && (values.length > 1 || typeof (values[0] ?? '') !== 'string')) {
    throw new TypeError(`Expected the ${key} of a URL to be a string`)
  }
  return values.map((each) => {
    if (typeof each === 'string' || typeof each === 'number') return String(each)
    throw new TypeError(`Expected "${key}" to be a string, a number or a list of those`)
  })
}
