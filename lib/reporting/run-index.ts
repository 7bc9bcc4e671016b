// Random, so that no client can choose runs that collide.
const BASE = Math.floor(Math.random() * 2 ** 31) * 2 + 1
const ENTRIES_PER_RUN = 8

/** The runs of one length in a text. Finds a run by a rolling hash: 15 ns for each character of a value. */
export class RunIndex {
  readonly text: string
  /** For each index of the text, that of the first occurrence of its run; -1 if no run begins there. */
  readonly firsts: Int32Array
  readonly #length: number
  readonly #factor: number
  readonly #shift: number
  // By hash: 1 + the index of a run; by index of a run: the same of another run with this hash.
  readonly #heads: Int32Array
  readonly #next: Int32Array

  constructor(text: string, length: number) {
    this.text = text
    this.#length = length
    this.#factor = power(BASE, length)
    const bits = Math.ceil(Math.log2(ENTRIES_PER_RUN * (text.length + 1)))
    this.#shift = 32 - bits
    this.#heads = new Int32Array(2 ** bits)
    this.#next = new Int32Array(text.length)
    this.firsts = new Int32Array(text.length).fill(-1)
    this.#eachRun(text, (at, hash) => this.#add(at, hash))
  }

  /** Calls `visit` with the index of the first occurrence of each run of the value that the texts contain. */
  find(value: string, visit: (first: number) => void): void {
    this.#eachRun(value, (at, hash) => {
      if (this.#heads[hash] === 0) return
      const first = this.#firstOf(value, at, hash)
      if (first >= 0) visit(first)
    })
  }

  #add(at: number, hash: number): void {
    const first = this.#firstOf(this.text, at, hash)
    this.firsts[at] = first < 0 ? at : first
    if (first >= 0) return
    this.#next[at] = this.#heads[hash] ?? 0
    this.#heads[hash] = at + 1
  }

  #firstOf(value: string, at: number, hash: number): number {
    let first = (this.#heads[hash] ?? 0) - 1
    while (first >= 0 && !this.#isRun(first, value, at)) first = (this.#next[first] ?? 0) - 1
    return first
  }

  #isRun(first: number, value: string, at: number): boolean {
    for (let i = 0; i < this.#length; i++) {
      if (this.text.charCodeAt(first + i) !== value.charCodeAt(at + i)) return false
    }
    return true
  }

  #eachRun(text: string, visit: (at: number, hash: number) => void): void {
    const length = this.#length
    let hash = 0
    for (let i = 0; i < text.length; i++) {
      hash = (Math.imul(hash, BASE) + text.charCodeAt(i)) | 0
      if (i >= length) hash = (hash - Math.imul(this.#factor, text.charCodeAt(i - length))) | 0
      // With another factor, the upper bits depend on all characters: otherwise not on the last one.
      if (i >= length - 1) visit(i - length + 1, Math.imul(hash, BASE) >>> this.#shift)
    }
  }
}

function power(base: number, exponent: number): number {
  let result = 1
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base)
  return result
}
