/**
 * Returns the candidate with the smallest edit distance to a name, ignoring case.
 *
 * @returns undefined if the distance to each candidate is more than half of its length.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  // Compares only 64 characters: a client chooses the name, and the time grows with its length.
  const requested = name.slice(0, 64).toLowerCase()
  const ranked = candidates
    // The difference of the lengths is the least number of edits. Most candidates need no comparison.
    .filter(({ length }) => Math.abs(length - requested.length) <= length / 2)
    .map((candidate) => ({ candidate, edits: editDistance(requested, candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= candidate.length / 2)
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
