// The maximum delay of a Node.js timer. A timer with a longer delay fires immediately.
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/**
 * Merges limits over their defaults.
 *
 * @throws {TypeError} If a name is unknown.
 * @throws {RangeError} If a limit is not an integer from 1 to its maximum.
 */
export function checkedLimits<T extends object>(defaults: T, changes: Partial<T>): T {
  return { ...defaults, ...definedLimits(changes, Object.keys(defaults)) }
}

/**
 * Returns the limits that are not undefined.
 *
 * @throws {TypeError | RangeError} As {@link checkedLimits} does.
 */
export function definedLimits<T extends object>(limits: T, names: readonly string[]): T {
  checkNames('limits', limits, names)
  const defined = Object.entries(limits).filter(([, value]) => value !== undefined)
  for (const [name, value] of defined) {
    const max = name.endsWith('Ms') ? MAX_TIMEOUT_MS : Number.MAX_SAFE_INTEGER
    if (!Number.isInteger(value) || value < 1 || value > max) {
      throw new RangeError(
        `Expected "${name}" to be a whole number from 1 to ${max}, got "${value}"`,
      )
    }
  }
  return Object.fromEntries(defined) as T
}

/** @throws {TypeError} If an object has an unknown name: a misspelt one would have no effect. */
export function checkNames(what: string, object: object, known: readonly string[]): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeError(`There is no "${unknown}" among the ${what}`)
}
