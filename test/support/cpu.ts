const RUNS = 5

/** Returns how many times the CPU time of another function a function takes: the least of 5 runs of each, in turn. */
export function cpuRatio(one: () => unknown, other: () => unknown): number {
  let [least, leastOfOther] = [Infinity, Infinity]
  for (let run = 0; run < RUNS; run++) {
    least = Math.min(least, cpuTimeOf(one))
    leastOfOther = Math.min(leastOfOther, cpuTimeOf(other))
  }
  return least / leastOfOther
}

function cpuTimeOf(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  return process.cpuUsage(before).user
}
