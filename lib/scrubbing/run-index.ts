/** The length of the runs in which texts and values are compared. A shorter match may be a coincidence. */
export const WINDOW = 8

// 5 modulo 8: modulo 2^32, the powers of other numbers may repeat sooner.
const BASE = Math.floor(Math.random() * 2 ** 29) * 8 + 5
// Random, so that no client can choose runs that collide. A random base is not enough: there are texts that collide for an
// eighth of all bases.
const SALT = BASE >>> 16
// With more entries, the table would not fit into the cache of a processor.
const ENTRIES_PER_RUN = 2

/** The runs of one even length in a text. Finds a run by a rolling hash: 20 ns for each character of a value. */
export class RunIndex {
  /** For each index of the text, that of the first occurrence of its run; -1 if no run begins there. */
  readonly firsts: Int32Array
  readonly #length: number
  readonly #pairs: Int32Array
  // The number of bits of a hash.
  readonly #bits: number
  // A list of runs for each hash, as in a hash table. Both arrays have 1 + the index of a run, and 0 at the end of a list: the
  // first run by its hash, and the next run of the same hash by the index of the run before.
  readonly #heads: Int32Array
  readonly #next: Int32Array

  constructor(text: string, length: number) {
    this.#length = length
    this.#pairs = pairsOf(text)
    this.#bits = 32 - Math.clz32(ENTRIES_PER_RUN * text.length + 1)
    this.#heads = new Int32Array(2 ** this.#bits)
    this.#next = new Int32Array(text.length)
    this.firsts = new Int32Array(text.length).fill(-1)
    const hashes = hashesOf(this.#pairs, length, this.#bits)
    for (let at = 0, first = -1; at < hashes.length; at++) {
      const hash = hashes[at] as number
      first = this.#firstOf(this.#pairs, at, hash, first)
      if (first < 0) {
        this.#next[at] = this.#heads[hash] as number
        this.#heads[hash] = at + 1
        first = at
      }
      this.firsts[at] = first
    }
  }

  /** Returns, for each run of a value, the index of its first occurrence in the text; -1 if the text does not contain it. */
  find(value: string): Int32Array {
    const pairs = pairsOf(value)
    const runs = hashesOf(pairs, this.#length, this.#bits)
    const heads = this.#heads
    for (let at = 0, first = -1; at < runs.length; at++) {
      const hash = runs[at] as number
      first = first < 0 && heads[hash] === 0 ? -1 : this.#firstOf(pairs, at, hash, first)
      runs[at] = first
    }
    return runs
  }

  // `before` is the result for the run one character before. Most often, the next run of the text is the one to find.
  #firstOf(pairs: Int32Array, at: number, hash: number, before: number): number {
    const length = this.#length
    if (before >= 0) {
      const next = this.firsts[before + 1] as number
      // The last two characters. All others are those of the run before.
      if (next >= 0 && this.#pairs[before + length - 1] === pairs[at + length - 2]) return next
    }
    let first = (this.#heads[hash] as number) - 1
    while (first >= 0 && !this.#isAt(first, pairs, at)) first = (this.#next[first] as number) - 1
    return first
  }

  #isAt(first: number, pairs: Int32Array, at: number): boolean {
    const own = this.#pairs
    const length = this.#length
    let same = 0
    while (same < length && own[first + same] === pairs[at + same]) same += 2
    return same === length
  }
}

// Returns each character of a text with the next one in the upper 16 bits: this compares two at once, and a number of an array
// takes less time to read than a character of a text.
function pairsOf(text: string): Int32Array {
  const pairs = new Int32Array(text.length)
  let next = 0
  for (let at = text.length - 1; at >= 0; at--) {
    const code = text.charCodeAt(at)
    pairs[at] = code | (next << 16)
    next = code
  }
  return pairs
}

/**
 * Returns the hash of each run, by the index at which it begins.
 *
 * @param codes The characters, in the lower 16 bits.
 * @param bits The number of bits of a hash.
 * @internal
 */
export function hashesOf(codes: Int32Array, length: number, bits: number): Int32Array {
  const hashes = new Int32Array(Math.max(0, codes.length - length + 1))
  if (hashes.length === 0) return hashes
  // BASE to the power of the length less 1.
  let factor = 1
  let hash = 0
  const codeAt = (at: number): number => ((codes[at] as number) & 0xffff) ^ SALT
  for (let at = 0; at < length - 1; at++) {
    factor = Math.imul(factor, BASE)
    hash = (Math.imul(hash, BASE) + codeAt(at)) | 0
  }
  for (let at = 0; at < hashes.length; at++) {
    hash = (Math.imul(hash, BASE) + codeAt(at + length - 1)) | 0
    // Multiplies once more: otherwise, the upper bits would not depend on the last character.
    hashes[at] = Math.imul(hash, BASE) >>> (32 - bits)
    hash = (hash - Math.imul(factor, codeAt(at))) | 0
  }
  return hashes
}
