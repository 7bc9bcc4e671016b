import { isReserved } from '../http/params.ts'
import { routeError } from './route-error.ts'
import { isRouteName } from './route-target.ts'
import { encodeSegment, isSegment } from './segments.ts'

// Only routing sets reserved names: a pair with such a key would never be read.
/** @throws {TypeError} If a route must not set a key. */
export function checkKey(name: string, key: string): void {
  if (!isRouteName(key) && isReserved(key)) {
    throw routeError(name, `must not set "${key}", which is reserved`)
  }
}

/** Checks the name of a variable. @param part The variable as the route has it. */
export function checkedVariable(name: string, variable: string, part: string = variable): string {
  if (!/^[\w-]+$/.test(variable)) {
    throw routeError(name, `has an invalid variable "${part}": expected a name such as ":id"`)
  }
  checkKey(name, variable)
  return variable
}

/** Returns a literal as a URL has it. */
export function encodedLiteral(name: string, literal: string, part: string = literal): string {
  if (/[%?#\\]/.test(literal)) throw routeError(name, `has an invalid path segment "${part}"`)
  return isSegment(literal) ? literal : encodeSegment(literal, `the segment "${literal}"`)
}

/** Returns the first text that occurs again. */
export function repeatedIn(texts: readonly string[]): string | undefined {
  return texts.find((text, at) => texts.indexOf(text) < at)
}

/** The requirements of a route by variable. */
export type Requirements = Readonly<Record<string, string | RegExp>>

/** Returns the expression that a whole value must match; undefined if there is none. */
export function requirementOf(
  name: string,
  requirements: Requirements,
  variable: string,
  ignoresCase = false,
): RegExp | undefined {
  if (!Object.hasOwn(requirements, variable)) return undefined
  const value: unknown = requirements[variable]
  const problem = `has a requirement for "${variable}" that is not a regular expression`
  if (typeof value !== 'string' && !(value instanceof RegExp)) throw routeError(name, problem)
  const { source, flags } = typeof value === 'string' ? { source: value, flags: '' } : value
  try {
    return shared(`^(?:${source})$`, ignoresCase || flags.includes('i') ? 'iu' : 'u')
  } catch (cause) {
    throw routeError(name, problem, { cause })
  }
}

// Equal requirements are one object, so that a path tests them once.
const requirements = new Map<string, WeakRef<RegExp>>()

function shared(source: string, flags: string): RegExp {
  const key = flags + source
  const known = requirements.get(key)?.deref()
  const regex = known ?? new RegExp(source, flags)
  if (known === undefined) requirements.set(key, new WeakRef(regex))
  return regex
}

/** Why a route does not match: the value of a variable. */
export function unmet(variable: string): string {
  return `the requirement for "${variable}" is not met`
}

/** Returns the error of a URL whose value does not meet a requirement. */
export function unmetError(name: string, variable: string): TypeError {
  return routeError(name, `has a requirement for "${variable}" that the value does not meet`)
}
