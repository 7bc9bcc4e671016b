import { replaceAll } from '../http/params.ts'
import { consistsOf } from './public-words.ts'

// The length of the shortest part of a value that is masked. A shorter match may be a coincidence.
export const WINDOW = 8
const HALF_WINDOW = 4
// No value contains a lone surrogate, so no run of a value crosses the border of two texts.
const BORDER = '\ud800'
/**
 * Masks the characters that texts share with values: runs of {@link WINDOW} characters, and values of 4 to
 * 7 characters as a whole. Case, in any script, and `+` for a space make no difference.
 *
 * One label replaces all consecutive masked characters: that of the first value that has their
 * first run. The time is linear in the texts and the values.
 */
export class TextMask {
  readonly #texts: readonly string[]
  readonly #publicWords: ReadonlySet<string>
  readonly #runs: RunIndex
  readonly #shortRuns: RunIndex
  // The label of each run of the texts that a value contains, by the index of its first occurrence.
  readonly #labels: (string | undefined)[] = []
  // The shorter values, and the first occurrences of their beginnings.
  readonly #shortLabels = new Map<string, string>()
  readonly #shortStarts = new Set<number>()

  /** @param publicWords Words that are shown where nothing else is masked with them, such as a host name. */
  constructor(texts: readonly string[], publicWords: readonly string[] = []) {
    this.#texts = texts
    this.#publicWords = new Set(publicWords.map((word) => word.toLowerCase()))
    const folded = texts.map(fold).join(BORDER)
    this.#runs = new RunIndex(folded, WINDOW)
    this.#shortRuns = new RunIndex(folded, HALF_WINDOW)
  }

  /** Masks the characters that the texts share with a value. */
  cover(label: string, value: string): void {
    const folded = fold(value)
    if (folded.length >= WINDOW) {
      this.#runs.find(folded, (first) => {
        this.#labels[first] ??= label
      })
      return
    }
    this.#shortRuns.find(folded.slice(0, HALF_WINDOW), (first) => {
      this.#shortStarts.add(first)
      if (!this.#shortLabels.has(folded)) this.#shortLabels.set(folded, label)
    })
  }

  /** Returns the texts, with labels such as `[dsh]` in place of masked characters. */
  texts(): string[] {
    const labels = this.#labelsOfCharacters()
    let start = 0
    return this.#texts.map((text) => {
      const end = start + text.length
      const own = labels.slice(start, end)
      start = end + BORDER.length
      return this.#withLabels(text, own)
    })
  }

  #withLabels(text: string, labels: readonly (string | undefined)[]): string {
    if (labels.length === 0) return text
    let masked = ''
    for (let at = 0; at < text.length; ) {
      const label = labels[at]
      let end = at + 1
      while (end < text.length && (labels[end] === undefined) === (label === undefined)) end++
      const run = text.slice(at, end)
      // White space at the ends of a run is not secret, and it separates the words.
      masked +=
        label === undefined || consistsOf(run, this.#publicWords)
          ? run
          : run.replace(/\S(?:.*\S)?/s, () => `[${label}]`)
      at = end
    }
    return masked
  }

  // The label of each masked character, by its index in the joined texts.
  #labelsOfCharacters(): readonly (string | undefined)[] {
    const { text, firsts } = this.#runs
    const labels: (string | undefined)[] = []
    const put = (at: number, length: number, label: string | undefined): void => {
      for (let i = at; label !== undefined && i < at + length; i++) labels[i] ??= label
    }
    for (const [at, first] of firsts.entries()) put(at, WINDOW, this.#labels[first])
    for (let length = WINDOW - 1; length >= HALF_WINDOW && this.#shortStarts.size > 0; length--) {
      for (const [at, first] of this.#shortRuns.firsts.entries()) {
        if (!this.#shortStarts.has(first)) continue
        put(at, length, this.#shortLabels.get(text.slice(at, at + length)))
      }
    }
    return labels
  }
}

// Random, so that no client can choose runs that collide.
const BASE = Math.floor(Math.random() * 2 ** 31) * 2 + 1
const ENTRIES_PER_RUN = 8

/** The runs of one length in a text. Finds a run by a rolling hash: 15 ns for each character of a value. */
class RunIndex {
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
      // The upper bits of the hash depend on all characters.
      if (i >= length - 1) visit(i - length + 1, hash >>> this.#shift)
    }
  }
}

function power(base: number, exponent: number): number {
  let result = 1
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base)
  return result
}

// Small letters that have the same capital as another one, such as ı and i, ς and σ.
const VARIANTS = [...'µıſͅςϐϑϕϖϰϱϵᲀᲁᲂᲃᲄᲅᲆᲇᲈẛι'].map(
  (letter) => [letter, letter.toUpperCase().toLowerCase()] as const,
)
const VARIANT = new RegExp(`[${VARIANTS.map(([letter]) => letter).join('')}]`)

// Keeps the length, so that an index in the folded text is one in the text.
function fold(text: string): string {
  if (!/[A-Z+\u0080-\uffff]/.test(text)) return text
  // İ is the only letter whose small form is longer.
  const folded = replaceAll(replaceAll(text, '+', ' '), 'İ', 'i').toLowerCase()
  if (!VARIANT.test(folded)) return folded
  return VARIANTS.reduce((all, [letter, common]) => replaceAll(all, letter, common), folded)
}
