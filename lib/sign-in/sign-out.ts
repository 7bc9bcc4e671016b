import type { Action } from '../controllers/controller.ts'
import type { HttpRequest } from '../http/request.ts'
import { headerOf } from '../http/request-readers.ts'
import { continuePath } from './continue-path.ts'
import { signInError } from './faults.ts'
import { enter, type Parts, single } from './parts.ts'

/** Creates the action `sign-out`, which ends the session in this browser. */
export function createSignOut(parts: Parts): Action {
  return (request, response) => {
    enter(parts, request)
    if (!isSameOrigin(request, parts.options.site.origin)) {
      const facts = { provider: '', step: 'sign-out', fault: 'other origin' } as const
      throw signInError(403, 'A sign-out must come from a page of this site', facts)
    }
    parts.sessions.clear(response)
    const { form, query } = request
    response.redirect(continuePath(single(form.has('continue') ? form : query, 'continue')), 303)
  }
}

// Another site could sign its visitors out. Every browser since 2020 sends one of the two headers.
function isSameOrigin(request: HttpRequest, origin: string): boolean {
  const site = headerOf(request, 'sec-fetch-site')
  return site === undefined ? headerOf(request, 'origin') === origin : site === 'same-origin'
}
