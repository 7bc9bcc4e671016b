/** The candidate with the fewest letters to change, by any case; undefined where more than half would have to. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const asked = name.slice(0, 64).toLowerCase()
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(asked, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= candidate.length / 2)
    .sort((one, other) => one.distance - other.distance)
  return ranked[0]?.candidate
}

// Levenshtein's, a row at a time.
function distance(one: string, other: string): number {
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
