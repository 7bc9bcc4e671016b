import { checkNames } from './check-options.ts'

/** The route of a request: the result of a router. */
export interface Route {
  /** The module as requested, such as `default`. */
  readonly module: string
  /** The controller as requested, such as `user-admin`; not percent-decoded. */
  readonly controller: string
  /** The action as requested, such as `list`; not percent-decoded. */
  readonly action: string
  /** The key/value pairs: a raw path, such as `id/42`, or parsed pairs. */
  readonly pairs?: string | URLSearchParams | undefined
  /** The name of the route that matched; undefined for the default route. */
  readonly name?: string | undefined
  /** The methods of `Allow`, for an OPTIONS request to a REST resource that has no action for it. @internal */
  readonly allow?: readonly string[] | undefined
  /** The registered name of its action, if the router remembers it. @internal */
  readonly actionName?: string | undefined
}

/** The target of `HttpRequest.forward()`. */
export interface Destination {
  /** The name of the action, such as `list`. */
  readonly action: string
  /** The name of its controller (default: that of the request). */
  readonly controller?: string | undefined
  /** The name of its module (default: that of the request). */
  readonly module?: string | undefined
  /** Replaces pairs of the path, which take precedence over the query string and the form. */
  readonly params?: Readonly<Record<string, string>> | undefined
}

/** Returns the name of an action, such as `news/list`, `admin/report/daily`. */
export function fullName({ module, controller, action }: Route): string {
  return [...(module === 'default' ? [] : [module]), controller, action].join('/')
}

/** Returns a name of JavaScript as it is in a URL or a flag: `foo-bar` for `fooBar`. */
export function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter, at: number) => (at > 0 ? '-' : '') + letter.toLowerCase())
}

/**
 * Returns the route of a forward.
 *
 * @throws {TypeError} If there is no action, or an unknown name.
 */
export function routeTo(
  current: Pick<Route, 'module' | 'controller'> & { readonly pairs: URLSearchParams },
  destination: Destination,
): Route {
  const { action, module, controller, params = {} } = Object(destination) as Destination
  if (typeof action !== 'string') throw new TypeError('A forward needs an "action"')
  checkNames('options of forward()', destination, ['action', 'controller', 'module', 'params'])
  const pairs = new URLSearchParams(current.pairs)
  for (const [name, value] of Object.entries(params)) pairs.set(name, value)
  // Before routing, module and controller are empty.
  return {
    module: module ?? (current.module || 'default'),
    controller: controller ?? (current.controller || 'index'),
    action,
    pairs,
  }
}

/** The value of a key. A list repeats the key; null and undefined remove it. */
export type UrlValue = string | number | readonly (string | number)[] | null | undefined

/** The target of a URL: its names and pairs. */
export interface UrlParams {
  /** The module (default: that of the request, or `default`). */
  readonly module?: string | null | undefined
  /** The controller (default: that of the request, or `index`). */
  readonly controller?: string | null | undefined
  /** The action (default: that of the request, or `index`). */
  readonly action?: string | null | undefined
  /** The key/value pairs of the path. */
  readonly [key: string]: UrlValue
}

/** Options of `HttpRequest.urlFor()`. */
export interface UrlOptions {
  /** A named route, or `default` (default: that of the request). */
  readonly name?: string | undefined
  /** Whether to ignore the values of the request (default false). */
  readonly reset?: boolean | undefined
  /** Whether to percent-encode keys and values (default true); false if they are already encoded. */
  readonly encode?: boolean | undefined
  /** The query string to append, by its names. A list repeats a name; null and undefined leave it out (default none). */
  readonly query?: Readonly<Record<string, UrlValue>> | URLSearchParams | undefined
}

/** Returns the query string of a URL with its `?`; '' if it is empty. */
export function toQuery(query: NonNullable<UrlOptions['query']>): string {
  const fields = new URLSearchParams()
  for (const [name, value] of query instanceof URLSearchParams ? query : Object.entries(query)) {
    // Flattens all levels. A list within a list is not supported, but as text it would take its depth times its length.
    for (const each of [value ?? []].flat(Number.POSITIVE_INFINITY)) {
      fields.append(name, String(each))
    }
  }
  return fields.size === 0 ? '' : `?${fields}`
}
