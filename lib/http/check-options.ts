// The maximum of a Node.js timer: a longer one would fire immediately.
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/**
 * Merges limits over their defaults.
 *
 * @throws {TypeError} If a name is unknown.
 * @throws {RangeError} If a limit is not an integer from 1.
 */
export function checkedLimits<T extends object>(defaults: T, given: Partial<T>): T {
  checkNames('limits', given, Object.keys(defaults))
  const present = Object.entries(given).filter(([, value]) => value !== undefined)
  const limits: T = { ...defaults, ...Object.fromEntries(present) }
  for (const [name, value] of Object.entries(limits)) {
    const most = name.endsWith('Ms') ? MAX_TIMEOUT_MS : Number.MAX_SAFE_INTEGER
    if (!Number.isInteger(value) || value < 1 || value > most) {
      throw new RangeError(
        `Expected "${name}" to be a whole number from 1 to ${most}, got "${value}"`,
      )
    }
  }
  return limits
}

/**
 * Checks that an object has only known names: a misspelt limit would not take effect.
 *
 * @throws {TypeError} With the first unknown name.
 */
export function checkNames(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeError(`There is no "${unknown}" among the ${what}`)
}
