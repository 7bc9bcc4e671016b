/** Returns the error of an invalid route, or of values that a route cannot hold. */
export function routeError(name: string, problem: string, options?: ErrorOptions): TypeError {
  return new TypeError(`The route "${name}" ${problem}`, options)
}
