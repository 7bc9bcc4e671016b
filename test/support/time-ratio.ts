const RUNS = 10

/** Returns how many times the time of another function a function takes: the least of 10 runs of each, in turn. */
export function timeRatio(one: () => unknown, other: () => unknown): number {
  let [least, leastOfOther] = [Infinity, Infinity]
  for (let run = 0; run < RUNS; run++) {
    least = Math.min(least, timeOf(one))
    leastOfOther = Math.min(leastOfOther, timeOf(other))
  }
  return least / leastOfOther
}

function timeOf(run: () => unknown): number {
  const startedAt = performance.now()
  run()
  return performance.now() - startedAt
}
