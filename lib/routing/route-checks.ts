import { isReserved } from '../http/params.ts'
import { type Expression, sharedExpression } from './expression.ts'
import { routeError } from './route-error.ts'
import type { Variable } from './route-part.ts'
import { isRouteName } from './route-target.ts'

/** @throws {TypeError} If a key is reserved and not a route name: a pair with this key would never be read. */
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

/** Returns the first text that occurs again. */
export function repeatedIn(texts: readonly string[]): string | undefined {
  return texts.find((text, at) => texts.indexOf(text) < at)
}

/** The requirements of a route by variable. */
export type Requirements = Readonly<Record<string, string | RegExp>>

/** Parses a variable, such as `:id`. */
export function toVariable(
  name: string,
  part: string,
  requirements: Requirements,
  ignoresCase = false,
): Variable {
  const variable = checkedVariable(name, part.slice(1), part)
  return {
    variable,
    requirement: requirementOf(name, requirements, variable, ignoresCase),
    miss: `the requirement for "${variable}" is not met`,
  }
}

/** Returns the variables among the parts of a path or a host. */
export function variablesIn(parts: readonly object[]): readonly Variable[] {
  return parts.filter((part): part is Variable => 'variable' in part)
}

// Returns the expression that a whole value must match; undefined if there is none.
function requirementOf(
  name: string,
  requirements: Requirements,
  variable: string,
  ignoresCase: boolean,
): Expression | undefined {
  if (!Object.hasOwn(requirements, variable)) return undefined
  const value: unknown = requirements[variable]
  const problem = `has a requirement for "${variable}" that is not a regular expression`
  if (typeof value !== 'string' && !(value instanceof RegExp)) throw routeError(name, problem)
  const { source, flags } = typeof value === 'string' ? { source: value, flags: '' } : value
  try {
    return sharedExpression(`^(?:${source})$`, ignoresCase || flags.includes('i') ? 'iu' : 'u')
  } catch (cause) {
    throw routeError(name, problem, { cause })
  }
}

/** Returns the error of a URL whose value does not meet a requirement. */
export function unmetError(name: string, variable: string): TypeError {
  return routeError(name, `has a requirement for "${variable}" that the value does not meet`)
}
