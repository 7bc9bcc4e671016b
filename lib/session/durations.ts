// Browsers keep no cookie longer than 400 days (RFC 6265bis, 5.5).
const MAX_TTL_MS = 400 * 24 * 3_600_000

/** @throws {TypeError} If a value is not a whole number of milliseconds up to a maximum (default 400 days). */
export function checkedMs(name: string, value: unknown, max: number = MAX_TTL_MS): number {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max) return Number(value)
  throw new TypeError(
    `Expected "${name}" to be a whole number from 1 to ${max}, got "${String(value)}"`,
  )
}
