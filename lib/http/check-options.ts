/** The maximum delay of a Node.js timer. A timer with a longer delay fires immediately. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1

/** Runs checks, and collects their errors. */
export class Checks {
  readonly #errors: Error[] = []

  /** Returns the result of a check. If it throws, the result is undefined, and {@link Checks.end} throws. */
  run<T>(check: () => T): T {
    try {
      return check()
    } catch (error) {
      this.add(error as Error)
      return undefined as T
    }
  }

  /** Adds the error of a check. */
  add(error: Error): void {
    this.#errors.push(error)
  }

  /** @throws The error of the check that failed; of several, one TypeError with a line for each. */
  end(): void {
    const [first, second] = this.#errors
    if (second) throw new TypeError(this.#errors.map(({ message }) => message).join('\n'))
    if (first) throw first
  }
}

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
 * @param owner Names their owner in the message, such as ` of the action "news/save"`.
 * @throws {TypeError | RangeError} As {@link checkedLimits} does.
 */
export function definedLimits<T extends object>(
  limits: T,
  names: readonly string[],
  owner = '',
): T {
  const checks = new Checks()
  checks.run(() => checkNames(`limits${owner}`, limits, names))
  const defined = Object.entries(limits).filter(([, value]) => value !== undefined)
  for (const [name, value] of defined) {
    const max = name.endsWith('Ms') ? MAX_TIMER_MS : Number.MAX_SAFE_INTEGER
    if (Number.isInteger(value) && value >= 1 && value <= max) continue
    const expected = `Expected "${name}"${owner} to be a whole number from 1 to ${max}`
    checks.add(new RangeError(`${expected}, got "${value}"`))
  }
  checks.end()
  return Object.fromEntries(defined) as T
}

/** The kind of an option: its name in a message, and its check. The check never gets undefined. */
export type Kind = readonly [expected: string, isValid: (value: unknown) => boolean]

/** An option that is checked elsewhere, or not at all. */
export const UNCHECKED: Kind = ['', () => true]
export const BOOLEAN: Kind = ['true or false', (value) => typeof value === 'boolean']
export const NUMBER: Kind = [
  'a number from 0 on',
  (value) => typeof value === 'number' && value >= 0,
]
export const FUNCTION: Kind = ['a function', (value) => typeof value === 'function']
export const STRING: Kind = ['a string', (value) => typeof value === 'string']
export const STRINGS: Kind = [
  'a list of strings',
  (value) => Array.isArray(value) && value.every(STRING[1]),
]
/** The path prefix of all URLs: '' or whole segments. */
export const BASE_PATH: Kind = [
  'a path such as "/app", without a slash at its end',
  (value) => STRING[1](value) && /^(\/[\w.~-]+)*$/.test(value as string),
]
/** An object with names. A list or a Map has none, so its content would have no effect. */
export const OBJECT: Kind = ['an object', (value) => isObject(value) && !(Symbol.iterator in value)]

/**
 * Checks the names of options, and the kinds of their values.
 *
 * @param what Names the options in a message.
 * @throws {TypeError} If they are not an object, or if a name or a kind is wrong; the message has a line for each.
 */
export function checkOptions<T extends object>(
  what: string,
  options: T,
  kinds: Readonly<Record<keyof T, Kind>>,
): void {
  checkObject(what, options)
  const checks = new Checks()
  checks.run(() => checkNames(what, options, Object.keys(kinds)))
  for (const [name, [expected, isValid]] of Object.entries<Kind>(kinds)) {
    const value = options[name as keyof T]
    if (value === undefined || isValid(value)) continue
    checks.add(new TypeError(`Expected "${name}" to be ${expected}`))
  }
  checks.end()
}

/** @throws {TypeError} If options are not an object, or are a list or a Map. */
export function checkObject(what: string, options: unknown): void {
  if (!OBJECT[1](options)) throw new TypeError(`Expected the ${what} in an object`)
}

/** @throws {TypeError} If an object has an unknown name: a misspelt option would have no effect. */
export function checkNames(what: string, object: object, known: readonly string[]): void {
  const unknown = Object.keys(object).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const nearest = new Set(unknown.flatMap((name) => nearestName(name, known) ?? []))
  const hint = nearest.size > 0 ? `: did you mean "${[...nearest].join('" or "')}"?` : ''
  throw new TypeError(`There is no "${unknown.join('" or "')}" among the ${what}${hint}`)
}

/** Reports whether a value is an object. A list and an instance of a class are objects too. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Reports whether a value is an object, but neither a list nor an instance of a class. */
export function isRecord(value: unknown): value is object {
  if (!isObject(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/**
 * Returns the candidate with the smallest edit distance to a name, ignoring case.
 *
 * @returns undefined if the distance to each candidate is more than half of its length, or than `maxEdits`.
 */
export function nearestName(
  name: string,
  candidates: readonly string[],
  maxEdits: number = Number.POSITIVE_INFINITY,
): string | undefined {
  // Compares only 64 characters: a client chooses the name, and the time grows with its length.
  const requested = name.slice(0, 64).toLowerCase()
  const ranked = candidates
    // The difference of the lengths is the least number of edits. Most candidates need no comparison.
    .filter(({ length }) => Math.abs(length - requested.length) <= length / 2)
    .map((candidate) => ({ candidate, edits: editDistance(requested, candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.min(candidate.length / 2, maxEdits))
    .sort((one, other) => one.edits - other.edits)
  return ranked[0]?.candidate
}

// Returns the Levenshtein distance, which is computed row by row.
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
