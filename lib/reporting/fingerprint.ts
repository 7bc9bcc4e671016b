import { typeOf } from '../http/exceptions.ts'
import { readException } from './exception-report.ts'
import { type Failure, isRejection } from './failure.ts'
import { isApplicationFrame, locationOf } from './frames.ts'
import { safeNames } from './request-names.ts'
import { scrubException, shapesAlone } from './scrubbed-exception.ts'
import { safeName } from './shape.ts'

/**
 * Returns the text that equal errors share: for a fault, the type, the name of the exception, the first
 * frame of the application, controller and action; for a rejection, the type and the requested names.
 * If the error action failed too, it is the fingerprint of that failure. Contains no value of the
 * request, but its names may be parts of the target: see `copyOf()`.
 */
export function fingerprintOf(failure: Failure): string {
  const { exceptions, request } = failure
  const [first = new Error(), second] = exceptions
  if (second !== undefined) return faultOf(second, failure, 'error/error')
  if (request === undefined) return faultOf(first, failure, '')
  const { module, controller, action } = safeNames(request)
  if (isRejection(failure)) {
    const names = `${withoutLength(module)} ${withoutLength(controller)} ${withoutLength(action)}`
    return `${typeOf(first)} ${names}`
  }
  const names = [controller, action].map((name) => fold(withoutLength(name)))
  return faultOf(first, failure, names.join('/'))
}

function faultOf(exception: Error, { exceptions, request }: Failure, names: string): string {
  // The report then uses what was read here, and a fault that is only counted is not scrubbed.
  const { name, isClassName, stack, isStackOwn } = request
    ? scrubException(exception, request, true, exceptions).raw
    : readException(exception, true)
  const frame = isStackOwn ? (stack.find(isApplicationFrame) ?? '') : ''
  // Not scrubbed, so it names only classes, and files of frames that no message can contain.
  const shown = withoutLength(isClassName ? safeName(name) : shapesAlone.name(name))
  const parts = [typeOf(exception), shown, locationOf(frame), names]
  return parts.filter((part) => part !== '').join(' ')
}

// Without the lengths of shapes, such as token(22), a thousand random tokens are one kind.
function withoutLength(name: string): string {
  return name.endsWith(')') ? name.slice(0, name.lastIndexOf('(')) : name
}

// Under `names: 'zf1'` one failing action has many spellings; they are one kind.
function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9_-]/g, '')
}
