/** Where a request goes: what a router finds. */
export interface Route {
  /** The module as requested, such as `default`. */
  readonly module: string
  /** The controller as requested, such as `user-admin`; not percent-decoded. */
  readonly controller: string
  /** The action as requested, such as `list`; not percent-decoded. */
  readonly action: string
  /** The key/value pairs: a raw path, such as `id/42`, or read already. */
  readonly pairs?: string | URLSearchParams | undefined
  /** The named route that found it; undefined of the default route. */
  readonly name?: string | undefined
}

/** Where `HttpRequest.forward()` goes: what is not named stays as it is. */
export interface Destination {
  /** The name of the action, such as `list`. */
  readonly action: string
  /** The name of its controller (default: that of the request). */
  readonly controller?: string | undefined
  /** The name of its module (default: that of the request). */
  readonly module?: string | undefined
  /** Set over the pairs of the path, so they win over the query string and the form. */
  readonly params?: Readonly<Record<string, string>> | undefined
}
