import type { HttpRequest } from '../http/request.ts'
import type { Route } from '../http/route.ts'

/** Finds where a request goes, by its `path`; undefined where it finds nothing. */
export interface Router {
  /**
   * Finds where a request goes: at once, not by a promise. An error that it throws is dispatched to `error/error`.
   *
   * @returns undefined where it finds nothing: a 404 of the type `EXCEPTION_NO_ROUTE`.
   */
  route(request: HttpRequest): Route | undefined
}
