/** The value at a share of a sorted list, between two of them where it falls there. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = Math.floor(at)
  const high = Math.ceil(at)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
}

export function median(values) {
  return quantile(values, 0.5)
}

export function summary(values) {
  return { median: median(values), q1: quantile(values, 0.25), q3: quantile(values, 0.75) }
}
