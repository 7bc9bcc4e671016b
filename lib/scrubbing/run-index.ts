/** The length of the runs in which texts and values are compared. A shorter match may be a coincidence. */
export const WINDOW = 8

// 5 modulo 8: modulo 2^32, the powers of other numbers may repeat sooner.
const BASE = Math.floor(Math.random() * 2 ** 29) * 8 + 5
// Random, so that no client can choose runs that collide. A random base is not enough: there are texts that collide for an
// eighth of all bases.
const SALT = BASE >>> 16
// With more entries, the table would not fit into the cache of a processor.
const ENTRIES_PER_RUN = 2

/** The runs of one length in a text. Finds a run by a rolling hash: 10 ns for each character of a value. */
export class RunIndex {
  readonly text: string
  /** For each index of the text, that of the first occurrence of its run; -1 if no run begins there. */
  readonly firsts: Int32Array
  readonly #length: number
  // BASE to the power of the length less 1.
  #factor = 1
  readonly #shift: number
  // A list of runs for each hash, as in a hash table. Both arrays have 1 + the index of a run, and 0 at the end of a list: the
  // first run by its hash, and the next run of the same hash by the index of the run before.
  readonly #heads: Int32Array
  readonly #next: Int32Array

  constructor(text: string, length: number) {
    this.text = text
    this.#length = length
    for (let i = 1; i < length; i++) this.#factor = Math.imul(this.#factor, BASE)
    this.#shift = Math.clz32(ENTRIES_PER_RUN * text.length + 1)
    this.#heads = new Int32Array(2 ** (32 - this.#shift))
    this.#next = new Int32Array(text.length)
    this.firsts = new Int32Array(text.length).fill(-1)
    const hashes = this.#hashesOf(text)
    for (let at = 0, first = -1; at < hashes.length; at++) {
      const hash = hashes[at] as number
      first = this.#firstOf(text, at, hash, first)
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
    const runs = this.#hashesOf(value)
    const heads = this.#heads
    for (let at = 0, first = -1; at < runs.length; at++) {
      const hash = runs[at] as number
      first = first < 0 && heads[hash] === 0 ? -1 : this.#firstOf(value, at, hash, first)
      runs[at] = first
    }
    return runs
  }

  // `before` is the result for the run one character before. Most often, the next run of the text is the one to find.
  #firstOf(value: string, at: number, hash: number, before: number): number {
    const length = this.#length
    if (before >= 0) {
      const next = this.firsts[before + 1] as number
      const last = value.charCodeAt(at + length - 1)
      // A character past the end of a text would make V8 discard the compiled code.
      if (next >= 0 && this.text.charCodeAt(before + length) === last) return next
    }
    let first = (this.#heads[hash] as number) - 1
    while (first >= 0 && !this.#isAt(first, value, at)) first = (this.#next[first] as number) - 1
    return first
  }

  // To compare characters takes less time than to take a part of the text.
  #isAt(first: number, value: string, at: number): boolean {
    const { text } = this
    const length = this.#length
    let same = 0
    while (same < length && text.charCodeAt(first + same) === value.charCodeAt(at + same)) same++
    return same === length
  }

  // Returns the hash of each run, by the index at which it begins.
  #hashesOf(text: string): Int32Array {
    const length = this.#length
    const hashes = new Int32Array(Math.max(0, text.length - length + 1))
    if (hashes.length === 0) return hashes
    const factor = this.#factor
    const shift = this.#shift
    let hash = 0
    for (let i = 0; i < length - 1; i++)
      hash = (Math.imul(hash, BASE) + (text.charCodeAt(i) ^ SALT)) | 0
    for (let at = 0; at < hashes.length; at++) {
      hash = (Math.imul(hash, BASE) + (text.charCodeAt(at + length - 1) ^ SALT)) | 0
      // Multiplies once more: otherwise, the upper bits would not depend on the last character.
      hashes[at] = Math.imul(hash, BASE) >>> shift
      hash = (hash - Math.imul(factor, text.charCodeAt(at) ^ SALT)) | 0
    }
    return hashes
  }
}
