import type { HttpRequest } from '../http/request.ts'
import { SentParams } from '../reporting/sent-params.ts'
import { recognizeSignIn } from '../reporting/sign-in-hint.ts'
import type { Controller } from './controller.ts'

/** A link that an error page offers. */
export interface ErrorLink {
  /** A path of this service. It holds nothing of the request. */
  readonly href: string
  /** The text to show. */
  readonly text: string
}

/** What a controller does about a request that failed. */
export interface ErrorHooks {
  /** Runs before the error action. Must not throw. */
  failed(request: HttpRequest): void
  /** Returns the link that the error page offers; undefined for none. */
  linkOf(request: HttpRequest, exception: Error): ErrorLink | undefined
}

/** The property of a controller that has {@link ErrorHooks}. A symbol: the names of a controller are its actions. */
export const errorHooks: unique symbol = Symbol('portico.errorHooks')

/** Returns the hooks of all controllers as one; undefined if none of them has any. The first link is shown. */
export function hooksOfControllers(controllers: Iterable<Controller>): ErrorHooks | undefined {
  const hooks = Array.from(
    controllers,
    (each) => (each as { [errorHooks]?: ErrorHooks })?.[errorHooks],
  )
  const own = [...new Set(hooks)].filter((each) => each !== undefined)
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

/** Reports whether a request that is not routed looks like one of a page of an identity provider. */
export function isOfProviderPage(request: HttpRequest): boolean {
  const found = recognizeSignIn(request, new SentParams(request), () => true)
  return found?.looksLike === 'provider page'
}
