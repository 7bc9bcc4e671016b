/** The value of a key: several where the key is repeated; null or undefined removes it. */
export type UrlValue = string | number | readonly (string | number)[] | null | undefined

/** Where a URL leads: its names, and its key/value pairs. */
export interface UrlParams {
  /** The module (default: the one of the request, or `default`). */
  readonly module?: string | null | undefined
  /** The controller (default: the one of the request, or `index`). */
  readonly controller?: string | null | undefined
  /** The action (default: the one of the request, or `index`). */
  readonly action?: string | null | undefined
  /** The pairs: what else the path tells, by its keys. */
  readonly [key: string]: UrlValue
}

/** How a URL is made. */
export interface UrlOptions {
  /** A named route, or `default` (default: the route that found the request). */
  readonly name?: string | undefined
  /** Whether to take nothing over from the request (default false). */
  readonly reset?: boolean | undefined
  /** Whether to percent-encode keys and values (default true); false where they are encoded already. */
  readonly encode?: boolean | undefined
}
