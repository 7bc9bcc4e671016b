/** The value of a key. A list repeats the key; null and undefined remove it. */
export type UrlValue = string | number | readonly (string | number)[] | null | undefined

/** The target of a URL: its names and its key/value pairs. */
export interface UrlParams {
  /** The module (default: the module of the request, or `default`). */
  readonly module?: string | null | undefined
  /** The controller (default: the controller of the request, or `index`). */
  readonly controller?: string | null | undefined
  /** The action (default: the action of the request, or `index`). */
  readonly action?: string | null | undefined
  /** The key/value pairs of the path. */
  readonly [key: string]: UrlValue
}

/** The options of `HttpRequest.url()`. */
export interface UrlOptions {
  /** A named route, or `default` (default: the route that matched the request). */
  readonly name?: string | undefined
  /** Whether to ignore the values of the request (default false). */
  readonly reset?: boolean | undefined
  /** Whether to percent-encode keys and values (default true); false if they are already encoded. */
  readonly encode?: boolean | undefined
}
