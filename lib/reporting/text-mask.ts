import { consistsOf, fixedCharactersOf, isWord } from './known-words.ts'
import { RunIndex } from './run-index.ts'
import {
  BORDER,
  fold,
  foldCost,
  formsOf,
  squeeze,
  squeezedForm,
  type TextForm,
} from './text-forms.ts'

/** The length of the shortest part of a value that is masked. A shorter match may be a coincidence. */
export const WINDOW = 8
const HALF_WINDOW = 4

// The rank of the values after the label ''.
const HIDDEN = 1

// The cost of looking for short values at one place of a text, in characters of a value.
const PLACE_COST = 6

// A number of a card, a telephone or an account may be written in groups, or without them, and have a label. A list of
// pairs, such as a form, is not a number.
const GROUPED = /^(?=(?:\D*\d){4})[^=;&]{8,64}$/

/**
 * Masks the characters that texts share with values: runs of {@link WINDOW} characters, and values of 4 to
 * 7 characters as a whole; those without a digit only as whole words. Compares the folded forms, see {@link formsOf}.
 *
 * One label replaces all consecutive masked characters: that of the first value that has their first run. Characters that
 * values with the label '' have are shown, unless earlier values have them. The time is linear in the texts and the values.
 */
export class TextMask {
  /** The characters of all forms in both indexes, and those that took as long. */
  readonly cost: number
  readonly #texts: readonly string[]
  readonly #publicWords: ReadonlySet<string>
  // The public words, and the short values with the label ''.
  readonly #shownWords: Set<string>
  readonly #joined: string
  // The position in the joined texts of each character of the index.
  readonly #starts: Int32Array
  // The position in the index of the form without separators.
  readonly #squeezedStart: number
  readonly #runs: RunIndex
  readonly #shortRuns: RunIndex
  // The number of the label of each run of the texts that a value contains, by the index of its first occurrence; 0 without one.
  readonly #labels: Uint16Array
  readonly #labelNames: (string | undefined)[] = [undefined]
  // The number of the label ''.
  #shown = -1
  // The numbers of the labels of the shorter values.
  readonly #shortLabels = new Map<string, number>()
  // How often each run occurs, by the index of its first occurrence; 0 once a value has begun with it.
  readonly #shortCounts: Uint16Array

  /**
   * Returns a mask; undefined if the forms of the texts are too long to be indexed.
   *
   * @param publicWords Words that are shown where nothing else is masked with them, such as a host name.
   * @param limit Maximum {@link cost}: 49,152 take 4 ms. A text without escapes has three for each of its characters.
   */
  static of(
    texts: readonly string[],
    publicWords: Iterable<string>,
    limit: number,
  ): TextMask | undefined {
    const joined = texts.map((text) => text.toWellFormed()).join(BORDER)
    const mapped = foldCost(joined)
    if (mapped > limit) return undefined
    let left = limit
    const forms: TextForm[] = []
    for (const form of formsOf(joined)) {
      // The form without separators is no longer than the first form.
      left -= (forms.length === 0 ? 3 : 2) * form.text.length + mapped
      if (left < 0) return undefined
      forms.push(form)
    }
    return new TextMask(texts, joined, forms, publicWords, limit - left)
  }

  private constructor(
    texts: readonly string[],
    joined: string,
    forms: readonly TextForm[],
    publicWords: Iterable<string>,
    cost: number,
  ) {
    this.cost = cost
    this.#texts = texts
    this.#joined = joined
    this.#publicWords = new Set(Array.from(publicWords, (word) => word.toLowerCase()))
    this.#shownWords = new Set(this.#publicWords)
    const plain = forms.map(({ text }) => text).join(BORDER)
    const squeezed = squeezedForm(forms[0] as TextForm)
    this.#squeezedStart = plain.length
    const indexed = plain + BORDER + squeezed.text
    this.#starts = new Int32Array(indexed.length + 1)
    let at = 0
    // The last start of a form is that of the border after it.
    for (const { starts } of [...forms, squeezed]) {
      this.#starts.set(starts, at)
      at += starts.length
    }
    this.#runs = new RunIndex(indexed, WINDOW)
    this.#labels = new Uint16Array(indexed.length)
    // Leaves out the form without separators, where a short match would be a coincidence.
    this.#shortRuns = new RunIndex(plain, HALF_WINDOW)
    const { firsts } = this.#shortRuns
    this.#shortCounts = new Uint16Array(firsts.length)
    // Where no run begins, the index is -1, and a typed array ignores it.
    for (const first of firsts) this.#shortCounts[first] = (this.#shortCounts[first] ?? 0) + 1
  }

  /** Masks the characters that the texts share with a value. Returns the cost: the length of the folded value, and its places. */
  cover(label: string, value: string): number {
    const folded = fold(value)
    const { length } = folded
    if (length >= WINDOW) {
      this.#coverRuns(label, folded)
      if (GROUPED.test(folded)) this.#coverRuns(label, squeeze(folded))
    } else if (length >= HALF_WINDOW) return length + this.#coverShort(label, folded)
    return length
  }

  // Returns the cost of the places at which the beginning of the value stands.
  #coverShort(label: string, folded: string): number {
    let cost = 0
    this.#shortRuns.find(folded.slice(0, HALF_WINDOW), (first) => {
      cost = PLACE_COST * (this.#shortCounts[first] as number)
      this.#shortCounts[first] = 0
      if (label === '') this.#shownWords.add(folded)
      if (!this.#shortLabels.has(folded)) this.#shortLabels.set(folded, this.#numberOf(label))
    })
    return cost
  }

  #numberOf(label: string): number {
    const labels = this.#labelNames
    const number = labels.at(-1) === label ? labels.length - 1 : labels.push(label) - 1
    if (label === '') this.#shown = number
    return number
  }

  // Returns the rank of a label: the values before the label '' come first, then that label, then the values after it.
  #rankOf(number = 0): number {
    return number === 0 ? 2 : Math.sign(number - this.#shown)
  }

  #coverRuns(label: string, folded: string): void {
    const number = this.#numberOf(label)
    this.#runs.find(folded, (first) => {
      this.#labels[first] ||= number
    })
  }

  /** Returns the texts, with labels such as `[dsh]` in place of masked characters. */
  texts(): string[] {
    const labels = this.#labelsOfCharacters()
    let start = 0
    return this.#texts.map((text) => {
      const own = labels.subarray(start, start + text.length)
      start += text.length + BORDER.length
      return this.#withLabels(text, own)
    })
  }

  #withLabels(text: string, numbers: Uint16Array): string {
    const labelAt = (at: number): string | undefined => this.#labelNames[numbers[at] as number]
    let masked = ''
    for (let at = 0; at < text.length; ) {
      const label = labelAt(at)
      const isHidden = this.#rankOf(numbers[at]) === HIDDEN
      let end = at + 1
      while (end < text.length && !labelAt(end) === !label) end++
      const run = text.slice(at, end)
      // White space at the ends of a run is not secret, and it separates the words.
      masked +=
        !label || consistsOf(run, isHidden ? this.#shownWords : this.#publicWords)
          ? run
          : run.replace(/\S(?:.*\S)?/s, () => `[${label}]`)
      at = end
    }
    return masked
  }

  // Returns the number of the label of each masked character, by its index in the joined texts.
  #labelsOfCharacters(): Uint16Array {
    const labels = new Uint16Array(this.#joined.length)
    const { firsts } = this.#runs
    let before = this.#rankOf()
    for (let at = 0; at < firsts.length; at++) {
      const number = this.#labels[firsts[at] as number]
      const rank = this.#rankOf(number)
      // After a masked run, only the last character is new. Masks the one before it again, and so the separators between them.
      const length = before <= rank ? 2 : WINDOW
      if (number) this.#put(labels, at + WINDOW - length, length, number)
      before = rank
    }
    if (this.#shortLabels.size === 0) return labels
    const short = this.#labelsOfShort()
    return labels.map((label, i) => {
      const rank = this.#rankOf(label)
      // A part of a longer value that the client has guessed must not be shown.
      return rank !== HIDDEN && this.#rankOf(short[i]) < rank ? (short[i] as number) : label
    })
  }

  // The end of a run of the index, in the joined texts.
  #endOf(at: number, length: number): number {
    const last = at + length - 1
    const next = at < this.#squeezedStart ? (this.#starts[last + 1] as number) : 0
    return Math.max(next, (this.#starts[last] as number) + 1)
  }

  #put(labels: Uint16Array, at: number, length: number, label: number): void {
    const end = this.#endOf(at, length)
    const rank = this.#rankOf(label)
    for (let i = this.#starts[at] as number; i < end; i++) {
      if (rank < this.#rankOf(labels[i])) labels[i] = label
    }
  }

  #labelsOfShort(): Uint16Array {
    const labels = new Uint16Array(this.#joined.length)
    const { text, firsts } = this.#shortRuns
    const fixed = fixedCharactersOf(this.#joined)
    // Where a value begins.
    const places: number[] = []
    for (let at = 0; at < firsts.length; at++) {
      if (this.#shortCounts[firsts[at] as number] === 0) places.push(at)
    }
    for (let length = WINDOW - 1; length >= HALF_WINDOW; length--) {
      for (const at of places) {
        const run = text.slice(at, at + length)
        const label = this.#shortLabels.get(run)
        if (label === undefined) continue
        if (/\d/.test(run) || (!fixed.has(this.#starts[at] as number) && isWord(text, at, length)))
          this.#put(labels, at, length, label)
      }
    }
    return labels
  }
}
