import type { HttpRequest } from '../http/request.ts'
import type { Controller } from './controller.ts'

/** A link that an error page offers. */
export interface ErrorLink {
  /** A path of this service. It holds nothing of the request. */
  readonly href: string
  /** The text to show. */
  readonly text: string
}

/** The hooks of an action of Portico for requests that failed. */
export interface ErrorHooks {
  /** Runs before the error action. Must not throw. */
  failed(request: HttpRequest): void
  /** Returns the link that the error page offers; undefined for none. */
  linkOf(request: HttpRequest, exception: Error): ErrorLink | undefined
}

/** The property of an action that has {@link ErrorHooks}. Only Portico provides such actions. */
export const errorHooks: unique symbol = Symbol('portico.errorHooks')

/** Returns the error hooks of an action; undefined if it has none. */
export function errorHooksOf(action: unknown): ErrorHooks | undefined {
  return (action as { readonly [errorHooks]?: ErrorHooks } | null | undefined)?.[errorHooks]
}

/** Joins the error hooks of all actions, of which the first link is shown; undefined if no action has any. */
export function hooksOfControllers(controllers: readonly Controller[]): ErrorHooks | undefined {
  // A controller may be invalid: its check comes later.
  const actions = controllers.flatMap((each) => Object.values(each ?? {}))
  const own = [...new Set(actions.flatMap((each) => errorHooksOf(each) ?? []))]
  if (own.length === 0) return undefined
  return {
    failed(request) {
      for (const each of own) each.failed(request)
    },
    linkOf(request, exception) {
      for (const each of own) {
        const link = each.linkOf(request, exception)
        if (link !== undefined) return link
      }
      return undefined
    },
  }
}
