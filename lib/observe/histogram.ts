/** The upper bounds of the buckets of durations, in seconds. A last bucket has no bound. */
export const BUCKETS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Returns empty buckets: a number for each of {@link BUCKETS}, and one for longer durations. */
export function emptyBuckets(): number[] {
  return new Array(BUCKETS.length + 1).fill(0)
}

/** Returns the index of the bucket for a duration in seconds. */
export function bucketOf(seconds: number): number {
  let index = 0
  while (seconds > (BUCKETS[index] ?? Number.POSITIVE_INFINITY)) index++
  return index
}

/** Adds the numbers of other buckets. */
export function addBuckets(buckets: number[], others: readonly number[]): void {
  for (let i = 0; i < others.length; i++) buckets[i] = (buckets[i] ?? 0) + (others[i] ?? 0)
}

/**
 * Estimates a quantile, as Prometheus does: linear within the bucket that has it.
 *
 * @param q From 0 to 1.
 * @returns Seconds; the last bound for a duration beyond it; undefined without any duration.
 */
export function quantile(buckets: readonly number[], q: number): number | undefined {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = q * total
  let before = 0
  for (const [i, bound] of BUCKETS.entries()) {
    const count = buckets[i] ?? 0
    if (count > 0 && before + count >= rank) {
      const lower = BUCKETS[i - 1] ?? 0
      return lower + ((bound - lower) * (rank - before)) / count
    }
    before += count
  }
  return BUCKETS.at(-1)
}
