// What a timer takes: one for longer would fire at once.
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/**
 * The limits that were given, over the defaults.
 *
 * @throws {TypeError} If there is no limit of that name.
 * @throws {RangeError} If one is not a whole number from 1.
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
 * Checks that there is nothing among names that is not known: a misspelt limit is one that does not hold.
 *
 * @throws {TypeError} With the name that is unknown.
 */
export function checkNames(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeError(`There is no "${unknown}" among the ${what}`)
}
