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
}

/** The target of `HttpRequest.forward()`. */
export interface Destination {
  /** The name of the action, such as `list`. */
  readonly action: string
  /** The name of its controller (default: the controller of the request). */
  readonly controller?: string | undefined
  /** The name of its module (default: the module of the request). */
  readonly module?: string | undefined
  /** Replaces pairs of the path, which take precedence over the query string and the form. */
  readonly params?: Readonly<Record<string, string>> | undefined
}
