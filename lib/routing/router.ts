import type { HttpRequest } from '../http/request.ts'
import type { Route } from '../http/route.ts'

/** A custom router, which finds the route of a request by its `path`. */
export interface Router {
  /**
   * Returns the route of a request. A promise is not accepted. An error that it throws is dispatched to `error/error`.
   *
   * @returns undefined if no route matches: a 404 of the type `EXCEPTION_NO_ROUTE`.
   */
  route(request: HttpRequest): Route | undefined
}
