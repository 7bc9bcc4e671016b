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

/** Returns the link for a request that failed; undefined for none. It is also called before the error action. */
export type LinkOf = (request: HttpRequest, exception: Error) => ErrorLink | undefined

/** The property of a controller that has a {@link LinkOf}. A symbol: the names of a controller are its actions. */
export const errorLink: unique symbol = Symbol('portico.errorLink')

/** Returns a function that asks the controllers for a link; undefined if none of them has one. */
export function linkOfControllers(controllers: Iterable<Controller>): LinkOf | undefined {
  const links = Array.from(controllers, (each) => (each as { [errorLink]?: LinkOf })?.[errorLink])
  const own = [...new Set(links)].filter((each) => each !== undefined)
  if (own.length === 0) return undefined
  return (request, exception) => {
    for (const linkOf of own) {
      const link = linkOf(request, exception)
      if (link !== undefined) return link
    }
    return undefined
  }
}

/** Reports whether a request that is not routed looks like one of a page of an identity provider. */
export function isOfProviderPage(request: HttpRequest): boolean {
  const found = recognizeSignIn(request, new SentParams(request), () => true)
  return found?.looksLike === 'provider page'
}
