import { NoControllerError, nameClaims, ThrownValueError } from '../http/errors.ts'
import { isInstance, read } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import { causesOf } from './exception-report.ts'

/** The first request of an exception. */
export interface Owner {
  readonly id: string
  /** The texts of the exception as its report showed them: undefined for one that was not searched. */
  shown?: ReadonlyMap<string, string | undefined>
}

/**
 * Tells whose values exceptions may quote. With `own`, they quote only those of their request. With `shared`, they may quote those
 * of another request too. With `unknown`, they have too many causes to find out.
 */
export type Ownership = 'own' | 'shared' | 'unknown'

/** The request that claims exceptions. */
type Claimant = Pick<HttpRequest, 'id' | 'controller'>

// Requests share an exception if they await the same promise, and it may quote a value of the first one.
const owners = new WeakMap<object, Owner>()
const MAX_OWNED = 300
// Maximum exceptions of a report that is searched for the values of a request.
const MAX_SEARCHED_EXCEPTIONS = 100

/**
 * Makes a request the owner of its exceptions, and of their causes and errors, unless they have one. Without it, the
 * report of another request could show the values of this one.
 *
 * @param request Undefined for an error without a request.
 * @returns Whose values they may quote.
 */
export function claim(exceptions: readonly unknown[], request: Claimant | undefined): Ownership {
  // The 404 of a scanner has no other exceptions, and needs no Set.
  if (exceptions.every((exception) => claimName(exception, request))) return 'own'
  const values = new Set(exceptions)
  let isShared = false
  let left = MAX_OWNED
  for (const value of values) {
    const owned = ownedPart(value)
    if (Object(owned) !== owned || claimName(value, request)) continue
    const id = request?.id ?? ''
    const owner = owners.get(owned as object) ?? { id: nameClaims.has(value as object) ? '' : id }
    owners.set(owned as object, owner)
    isShared ||= owner.id !== id
    if (left <= 0) continue
    const inner = causesOf(owned, left)
    // Exceptions may share their errors, which are read again for each of them.
    left -= inner.length
    for (const each of inner) values.add(each)
  }
  if (isShared) return 'shared'
  return values.size > MAX_SEARCHED_EXCEPTIONS ? 'unknown' : 'own'
}

// Claims the error for the controller name of the request by a mark, which takes less time than an owner. Reports whether the
// exception is that error.
function claimName(exception: unknown, request: Claimant | undefined): boolean {
  if (!isInstance(NoControllerError, exception)) return false
  const isOwn = read(exception, 'controller') === request?.controller
  if (isOwn) nameClaims.add(exception)
  return isOwn
}

// Returns the object by which the owner is known: a thrown object, because each request has an exception of its own around it.
function ownedPart(exception: unknown): unknown {
  const value = isInstance(ThrownValueError, exception) ? read(exception, 'value') : exception
  return Object(value) === value ? value : exception
}

/** Returns the owner of an exception that was claimed. */
export function ownerOf(exception: unknown): Owner | undefined {
  return owners.get(ownedPart(exception) as object)
}
