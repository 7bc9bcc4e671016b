import { consistsOf, fixedCharactersOf } from './known-words.ts'
import { RunIndex, WINDOW } from './run-index.ts'
import { ShortValues } from './short-values.ts'
import {
  BORDER,
  foldCost,
  formsOf,
  squeezedForm,
  type TextForm,
  withoutGroups,
} from './text-forms.ts'

/**
 * Masks the characters that texts share with values: runs of {@link WINDOW} characters, and values of 4 to
 * 7 characters as a whole; those without a digit only as whole words. Compares the folded forms, see {@link formsOf}.
 *
 * One label replaces all consecutive masked characters: that of the first value that has their first run. The time is linear in the
 * texts and the values, and hardly depends on what they have in common.
 */
export class TextMask {
  /** The characters of all forms in both indexes, and the cost of folding in such characters. */
  readonly cost: number
  readonly #originals: readonly string[]
  readonly #publicWords: ReadonlySet<string>
  /** The texts, with a border between two. */
  readonly joined: string
  // The position in the joined texts of each character of the index.
  readonly #starts: Int32Array
  // The position in the index of the form without separators.
  readonly #squeezedStart: number
  readonly #runs: RunIndex
  // The number of the label of each run that a value contains, by the index of its first occurrence; 0 without one.
  readonly #labels: Uint16Array
  // Leaves out the form without separators, where a short match would be a coincidence.
  readonly #short: ShortValues
  readonly #labelNames = ['']

  /**
   * Returns a mask; undefined if the forms of the texts are too long to be indexed.
   *
   * @param publicWords Words that are shown where nothing else is masked with them, such as a host name.
   * @param limit Maximum {@link cost}: 48,000 take 4 ms. A text without escapes has three for each of its characters.
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
    this.#originals = texts
    this.joined = joined
    this.#publicWords = new Set(Array.from(publicWords, (word) => word.toLowerCase()))
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
    this.#short = new ShortValues(plain)
    this.#labels = new Uint16Array(indexed.length)
  }

  /** Masks the characters that the texts share with a folded value. */
  cover(label: string, folded: string): void {
    if (this.#labelNames.at(-1) !== label) this.#labelNames.push(label)
    const number = this.#labelNames.length - 1
    if (folded.length < WINDOW) {
      this.#short.add(folded, number)
      return
    }
    for (const form of [folded, withoutGroups(folded)]) {
      for (const first of this.runsOf(form)) if (first >= 0) this.#labels[first] ||= number
    }
  }

  /** Returns a number for each run of the texts, all of them 0: see {@link charactersOf}. */
  noRuns(): Uint16Array {
    return new Uint16Array(this.#labels.length)
  }

  /** Returns, for each run of a folded value, the index of its first occurrence in the texts; -1 if they do not contain it. */
  runsOf(folded: string): Int32Array {
    return this.#runs.find(folded)
  }

  /** Returns the texts, with labels such as `[dsh]` in place of masked characters. */
  texts(): string[] {
    const labels = this.charactersOf()
    this.coverShort(labels)
    return this.mapTexts((text, start) => this.withLabels(text, labels.subarray(start)))
  }

  /** Returns what a function returns for each text and its position in the joined texts. */
  mapTexts(each: (text: string, start: number) => string): string[] {
    let start = 0
    return this.#originals.map((text) => {
      const result = each(text, start)
      start += text.length + BORDER.length
      return result
    })
  }

  /**
   * Returns a text, with labels in place of masked characters.
   *
   * @param labels The numbers of the labels of its characters; 0 for those that are shown.
   */
  withLabels(text: string, labels: Uint16Array): string {
    let masked = ''
    // A text may have a value many times, and must not take longer for it than for one that is none.
    const isPublic = new Map<string, boolean>()
    for (let at = 0; at < text.length; ) {
      const number = labels[at] ?? 0
      let end = at + 1
      while (end < text.length && !labels[end] === !number) end++
      const run = text.slice(at, end)
      if (number > 0 && !isPublic.has(run)) isPublic.set(run, consistsOf(run, this.#publicWords))
      // White space at the ends of a run is not secret, and it separates the words.
      const secret = number > 0 && !isPublic.get(run) ? run.trim() : ''
      masked += (secret && run.replace(secret, () => `[${this.#labelNames[number]}]`)) || run
      at = end
    }
    return masked
  }

  /**
   * Returns the numbers of the characters that runs have, by their indexes in the joined texts.
   *
   * @param numbers The numbers of the runs, by the indexes of their first occurrences (default: the labels of the values).
   */
  charactersOf(numbers: Uint16Array = this.#labels): Uint16Array {
    const characters = new Uint16Array(this.joined.length)
    const { firsts } = this.#runs
    let before: number | undefined
    for (let at = 0; at < firsts.length; at++) {
      const number = numbers[firsts[at] as number]
      // After a run with a number, only the last character is new. Sets the one before it again, and so the separators between them.
      const length = before ? 2 : WINDOW
      if (number) this.#put(characters, at + WINDOW - length, length, number)
      before = number
    }
    return characters
  }

  // Sets the label of the characters of a run of the index.
  #put(labels: Uint16Array, at: number, length: number, label: number): void {
    const last = at + length - 1
    const next = at < this.#squeezedStart ? (this.#starts[last + 1] as number) : 0
    const end = Math.max(next, (this.#starts[last] as number) + 1)
    for (let i = this.#starts[at] as number; i < end; i++) labels[i] ||= label
  }

  /**
   * Sets the labels of the characters that the shorter values have.
   *
   * @param words Gets those of values that are whole words (default none).
   */
  coverShort(labels: Uint16Array, words?: Uint16Array): void {
    const fixed = fixedCharactersOf(this.joined)
    this.#short.findAll(({ at, length, label, hasDigit, isWord }) => {
      if (!hasDigit && fixed.has(this.#starts[at] as number)) return
      this.#put(labels, at, length, label)
      if (words && isWord) this.#put(words, at, length, label)
    })
  }
}
