import { followsEscape, isLetterOrDigit } from './known-words.ts'
import { RunIndex, WINDOW } from './run-index.ts'

const HALF_WINDOW = 4
// The bits of a hash that are looked up first.
const FILTER = 4_095

/** A value in a text. */
export interface ShortMatch {
  readonly at: number
  readonly length: number
  /** The number of its label. */
  readonly label: number
  readonly hasDigit: boolean
  /** Whether no letters or digits continue it. */
  readonly isWord: boolean
}

/** Finds values of 4 to 7 characters in a text, as a whole; those without a digit only as whole words. */
export class ShortValues {
  readonly #text: string
  readonly #runs: RunIndex
  // The numbers of their labels, of a value without a digit less than 0.
  readonly #labels = new Map<string, number>()
  // Those of the values of 4 characters, by the indexes of their first occurrences.
  readonly #ofRuns: Int16Array
  // 1 for the last bits of each of their hashes.
  readonly #filter = new Uint8Array(FILTER + 1)
  // The lengths of the values that begin with a run, one bit for each, by the index of its first occurrence: in the lower byte of
  // those with a digit, in the upper one of the others.
  readonly #lengths: Uint16Array
  // 1 for each letter and each digit of the text.
  readonly #letters: Uint8Array

  constructor(text: string) {
    this.#text = text
    this.#runs = new RunIndex(text, HALF_WINDOW)
    this.#lengths = new Uint16Array(text.length)
    this.#letters = new Uint8Array(text.length)
    this.#ofRuns = new Int16Array(text.length)
  }

  /** Adds a folded value of fewer than 8 characters; ignores it if it has fewer than 4. */
  add(value: string, label: number): void {
    const { length } = value
    const hasDigit = /\d/.test(value)
    for (const first of this.#runs.find(value.slice(0, HALF_WINDOW))) {
      if (first < 0) continue
      this.#lengths[first] = (this.#lengths[first] as number) | bitOf(length, hasDigit)
      this.#filter[hashOf(first, value, HALF_WINDOW, length)] = 1
      const number = this.#labels.get(value) ?? (hasDigit ? label : -label)
      this.#labels.set(value, number)
      if (length === HALF_WINDOW) this.#ofRuns[first] = number
    }
  }

  /** Finds the longest value at each place of the text. It has the characters of the others. */
  findAll(onMatch: (match: ShortMatch) => void): void {
    if (this.#labels.size === 0) return
    const { firsts } = this.#runs
    const text = this.#text
    for (let at = 0; at < text.length; at++)
      this.#letters[at] = Number(isLetterOrDigit(text[at] as string))
    for (let at = 0; at < firsts.length; at++) {
      const lengths = this.#lengths[firsts[at] as number]
      if (lengths) this.#findLongest(at, lengths, onMatch)
    }
  }

  #findLongest(at: number, lengths: number, onMatch: (match: ShortMatch) => void): void {
    const text = this.#text
    const first = this.#runs.firsts[at] as number
    for (let length = Math.min(WINDOW - 1, text.length - at); length >= HALF_WINDOW; length--) {
      // Most values without a digit would end within a word: they are not looked up.
      const isEnd = this.#isBorder(at + length)
      if (!(lengths & bitOf(length, true)) && !(isEnd && lengths & bitOf(length, false))) continue
      const number = this.#numberAt(at, length, first)
      if (number === 0) continue
      const hasDigit = number > 0
      const isWord = isEnd && (this.#isBorder(at) || followsEscape(text, at))
      if (!hasDigit && !isWord) continue
      onMatch({ at, length, label: Math.abs(number), hasDigit, isWord })
      return
    }
  }

  // Returns 0 if the text has no value there.
  #numberAt(at: number, length: number, first: number): number {
    if (length === HALF_WINDOW) return this.#ofRuns[first] as number
    // Most places have no value, and to look into the Map takes ten times as long.
    const isPossible = this.#filter[hashOf(first, this.#text, at + HALF_WINDOW, at + length)]
    return (isPossible && this.#labels.get(this.#text.slice(at, at + length))) || 0
  }

  // Reports whether a word may end or begin at an index of the text.
  #isBorder(at: number): boolean {
    return !this.#letters[at - 1] || !this.#letters[at]
  }
}

function bitOf(length: number, hasDigit: boolean): number {
  return 1 << (hasDigit ? length : length + WINDOW)
}

// Random, so that no client can choose values that collide.
const BASE = Math.floor(Math.random() * 2 ** 29) * 2 + 1

// Returns the hash of a run of the index and the characters behind it. It takes less time than a part of the text.
function hashOf(first: number, text: string, start: number, end: number): number {
  let hash = first + end - start
  for (let i = start; i < end; i++) hash = (Math.imul(hash, BASE) + text.charCodeAt(i)) | 0
  return hash & FILTER
}
