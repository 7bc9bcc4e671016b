import { isInstance, typeOf } from '../http/exceptions.ts'
import { stateOf } from '../http/request.ts'
import { fullName } from '../http/route.ts'
import { isKnownName } from '../scrubbing/known-words.ts'
import { safeName } from '../scrubbing/shape.ts'
import { type RawException, type Scrubber, safeClassOf } from './exception-report.ts'
import { type Failure, isRejection } from './failure.ts'
import { isApplicationFrame, knownLocationOf, locationOf } from './frames.ts'
import { safeNames } from './request-names.ts'
import { scrubException } from './scrubbed-exception.ts'
import { SignInError } from './sign-in-hint.ts'

/**
 * Returns the text that equal errors share: for a fault, the type, the name of the exception, the first frame of the application,
 * and the name of the action; for a rejection, the type, the status and the requested names; for a rejection without a request,
 * the type, the name of the exception, the first frame and the status. If the error action failed too, it is the
 * fingerprint of that failure. Contains no value of the request, but its names may be parts of the target: see `copyOf()`.
 */
export function fingerprintOf(failure: Failure): string {
  const { exceptions, request } = failure
  const [first = new Error(), second] = exceptions
  if (second !== undefined) return faultKey(second, failure, 'error/error')
  if (request === undefined) {
    return faultKey(first, failure, isRejection(failure) ? String(failure.status) : '')
  }
  const type = typeOf(first)
  const { resolve } = stateOf(request).settings
  // The other types mean that there is no action. Resolving the names takes 1 % of the time of a 404.
  const registered = type === 'EXCEPTION_OTHER' ? resolve?.(request).registered : undefined
  // A client may make up other names for `__call`, and under `names: 'zf1'`.
  const { module, controller, action } = registered ?? safeNames(request)
  if (isRejection(failure)) {
    const names = `${withoutLength(module)} ${withoutLength(controller)} ${withoutLength(action)}`
    // The other types have one status each.
    if (type !== 'EXCEPTION_OTHER') return `${type} ${names}`
    return joined(type, String(failure.status), signInOf(first), names)
  }
  // A hook may fail for a request without an action, whose names a client may make up too.
  if (resolve && registered === undefined) return faultKey(first, failure, '')
  const folded = {
    module: foldName(module) || 'default',
    controller: foldName(controller),
    action: foldName(action),
  }
  return faultKey(first, failure, fullName(folded))
}

function faultKey(exception: Error, { exceptions, request }: Failure, names: string): string {
  // The report uses what is read here. The scrubber searches only when it is called: for most faults that are only counted, never.
  const { raw, scrubber } = scrubException(exception, request, true, exceptions)
  const shown = withoutLength(safeNameOf(exception, raw, scrubber))
  const location = safeLocationOf(raw, scrubber)
  return joined(typeOf(exception), shown, location, signInOf(exception), names)
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ')
}

// Returns provider and step of a failed sign-in: all sign-ins fail in the same action.
function signInOf(exception: Error): string {
  if (!isInstance(SignInError, exception)) return ''
  const { provider, step } = exception.signIn
  return `${provider}/${step}`
}

// Returns the name of an exception; that of its class, which is code, if the name may be a value.
function safeNameOf(
  exception: Error,
  { name, isClassName }: RawException,
  scrubber: Scrubber,
): string {
  // The scrubber may have to search: it is asked last.
  const isSafe = (): boolean =>
    isKnownName(name) || (safeName(name) === name && scrubber.name(name) === name)
  return !isClassName && isSafe() ? name : safeClassOf(exception)
}

// Returns the location of the first frame of the application that has a file; '' if the frame may be a text of the request,
// because the message may contain it or the application has set the stack.
function safeLocationOf({ stack, followMessage }: RawException, scrubber: Scrubber): string {
  const hasFile = (frame: string): boolean => isApplicationFrame(frame) && locationOf(frame) !== ''
  const first = followMessage ? (stack.find(hasFile) ?? '') : ''
  // Searches for the values of the request, and remembers the location if it has none: so this takes time once for each location.
  if (first !== '' && knownLocationOf(first) === '') scrubber.frame(first)
  return knownLocationOf(first)
}

// Without the lengths of shapes, such as token(22), a thousand random tokens are one kind.
function withoutLength(name: string): string {
  return name.endsWith(')') ? name.slice(0, name.lastIndexOf('(')) : name
}

// Under `names: 'zf1'`, one failing action has many spellings. They are one kind.
function foldName(name: string): string {
  return withoutLength(name)
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '')
}
