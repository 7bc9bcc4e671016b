// Medians and quartiles.

/** Returns the quantile of a list, such as 0.5 for the median; interpolates between two values. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const low = Math.floor(position)
  const high = Math.ceil(position)
  return sorted[low] + (sorted[high] - sorted[low]) * (position - low)
}

export function median(values) {
  return quantile(values, 0.5)
}

/** Returns the median and the quartiles. */
export function summary(values) {
  return { median: median(values), q1: quantile(values, 0.25), q3: quantile(values, 0.75) }
}
