import { separate } from './hidden-parts.ts'
import { consistsOf, fixedCharactersOf, isWord } from './known-words.ts'
import { RunIndex } from './run-index.ts'
import {
  BORDER,
  fold,
  foldCost,
  formsOf,
  squeezedForm,
  type TextForm,
  withoutGroups,
} from './text-forms.ts'

/** The length of the shortest part of a value that is masked. A shorter match may be a coincidence. */
export const WINDOW = 8
const HALF_WINDOW = 4
// The bits of a hash that are looked up first.
const FILTER = 4_095

/** Whether a client has sent a value, or may be unable to read it. */
export type ValueOwner = 'client' | 'hidden'

interface ShortValue {
  readonly text: string
  readonly label: number
  readonly hasDigit: boolean
}

// The values of one owner that the texts contain.
interface Layer {
  // The number of the label of each run of the texts that a value contains, by the index of its first occurrence; 0 without one.
  readonly labels: Uint16Array
  // The shorter values, by their hashes.
  readonly shortValues: Map<number, ShortValue[]>
  // 1 for the last bits of each of these hashes.
  readonly filter: Uint8Array
  // The lengths of the shorter values that begin with a run, one bit for each, by the index of its first occurrence.
  readonly shortLengths: Uint8Array
}

/**
 * Masks the characters that texts share with values: runs of {@link WINDOW} characters, and values of 4 to
 * 7 characters as a whole; those without a digit only as whole words. Compares the folded forms, see {@link formsOf}.
 *
 * One label replaces all consecutive masked characters: that of the first value that has their first run. What a text shares with
 * hidden values is shown, or has the labels of the client, if the client has sent all of it. The time is linear in the texts and the
 * values.
 */
export class TextMask {
  /** The characters of all forms in both indexes, and those that took as long. */
  readonly cost: number
  readonly #texts: readonly string[]
  readonly #publicWords: ReadonlySet<string>
  readonly #joined: string
  // The position in the joined texts of each character of the index.
  readonly #starts: Int32Array
  // The position in the index of the form without separators.
  readonly #squeezedStart: number
  readonly #runs: RunIndex
  readonly #shortRuns: RunIndex
  readonly #layers: Readonly<Record<ValueOwner, Layer>>
  readonly #labelNames = ['']

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
    // Leaves out the form without separators, where a short match would be a coincidence.
    this.#shortRuns = new RunIndex(plain, HALF_WINDOW)
    const layer = (): Layer => ({
      labels: new Uint16Array(indexed.length),
      shortValues: new Map(),
      filter: new Uint8Array(FILTER + 1),
      shortLengths: new Uint8Array(plain.length),
    })
    this.#layers = { client: layer(), hidden: layer() }
  }

  /**
   * Masks the characters that the texts share with a value. Returns the length of the folded value: the cost must not depend on what
   * the texts have in common with it, or a client could find out what it does not read.
   */
  cover(label: string, value: string, owner: ValueOwner = 'client'): number {
    const folded = fold(value)
    const { length } = folded
    if (this.#labelNames.at(-1) !== label) this.#labelNames.push(label)
    const { labels, shortValues, shortLengths, filter } = this.#layers[owner]
    const number = this.#labelNames.length - 1
    if (length < WINDOW) {
      this.#shortRuns.find(folded.slice(0, HALF_WINDOW), (first) => {
        shortLengths[first] = (shortLengths[first] ?? 0) | (1 << length)
        const hash = hashOf(first, folded, HALF_WINDOW, length)
        filter[hash & FILTER] = 1
        const values = shortValues.get(hash) ?? []
        if (values.some(({ text }) => text === folded)) return
        values.push({ text: folded, label: number, hasDigit: /\d/.test(folded) })
        shortValues.set(hash, values)
      })
      return length
    }
    for (const form of [folded, withoutGroups(folded)]) {
      this.#runs.find(form, (first) => {
        labels[first] ||= number
      })
    }
    return length
  }

  /**
   * Returns the texts, with labels such as `[dsh]` in place of masked characters.
   *
   * @param findSent Returns those of some phrases that the client has sent, see {@link separate}.
   */
  texts(findSent: (phrases: ReadonlySet<string>) => ReadonlySet<string>): string[] {
    const own = this.#labelsOfCharacters(this.#layers.client)
    const secret = this.#labelsOfCharacters(this.#layers.hidden)
    separate(this.#joined, own, secret, findSent)
    let start = 0
    return this.#texts.map((text) => {
      const end = start + text.length
      const masked = this.#withLabels(text, own.subarray(start, end), secret.subarray(start, end))
      start = end + BORDER.length
      return masked
    })
  }

  #withLabels(text: string, own: Uint16Array, secret: Uint16Array): string {
    const labelAt = (at: number): number => own[at] || secret[at] || 0
    let masked = ''
    for (let at = 0; at < text.length; ) {
      const number = labelAt(at)
      let end = at + 1
      while (end < text.length && !own[end] === !own[at] && !secret[end] === !secret[at]) end++
      const run = text.slice(at, end)
      // White space at the ends of a run is not secret, and it separates the words.
      masked +=
        number === 0 || consistsOf(run, this.#publicWords)
          ? run
          : run.replace(/\S(?:.*\S)?/s, () => `[${this.#labelNames[number]}]`)
      at = end
    }
    return masked
  }

  // Returns the number of the label of each masked character, by its index in the joined texts; 0 for others.
  #labelsOfCharacters(layer: Layer): Uint16Array {
    const labels = new Uint16Array(this.#joined.length)
    const { firsts } = this.#runs
    let before: number | undefined
    for (let at = 0; at < firsts.length; at++) {
      const number = layer.labels[firsts[at] as number]
      // After a masked run, only the last character is new. Masks the one before it again, and so the separators between them.
      const length = before ? 2 : WINDOW
      if (number) this.#put(labels, at + WINDOW - length, length, number)
      before = number
    }
    if (layer.shortValues.size > 0) this.#putShort(labels, layer)
    return labels
  }

  // Sets the label of the characters of a run of the index.
  #put(labels: Uint16Array, at: number, length: number, label: number): void {
    const last = at + length - 1
    const next = at < this.#squeezedStart ? (this.#starts[last + 1] as number) : 0
    const end = Math.max(next, (this.#starts[last] as number) + 1)
    for (let i = this.#starts[at] as number; i < end; i++) labels[i] ||= label
  }

  #putShort(labels: Uint16Array, { shortValues, shortLengths, filter }: Layer): void {
    const { text, firsts } = this.#shortRuns
    const fixed = fixedCharactersOf(this.#joined)
    for (let at = 0; at < firsts.length; at++) {
      const first = firsts[at] as number
      const lengths = shortLengths[first] ?? 0
      if (lengths === 0) continue
      // The longest one first: it has the characters of the others.
      const longest = Math.min(WINDOW - 1, text.length - at)
      for (let length = longest; length >= HALF_WINDOW; length--) {
        if ((lengths & (1 << length)) === 0) continue
        const hash = hashOf(first, text, at + HALF_WINDOW, at + length)
        // Most places have no value, and to look into the Map takes ten times as long.
        if (!filter[hash & FILTER]) continue
        const found = text.slice(at, at + length)
        const value = shortValues.get(hash)?.find((each) => each.text === found)
        if (value === undefined) continue
        const { label, hasDigit } = value
        if (hasDigit || (!fixed.has(this.#starts[at] as number) && isWord(text, at, length))) {
          this.#put(labels, at, length, label)
          break
        }
      }
    }
  }
}

// Random, so that no client can choose values that collide.
const BASE = Math.floor(Math.random() * 2 ** 29) * 2 + 1

// Returns the hash of a run of the short index and the characters behind it: a key that takes less time than a part of the text.
function hashOf(first: number, text: string, start: number, end: number): number {
  let hash = first + end - start
  for (let i = start; i < end; i++) hash = (Math.imul(hash, BASE) + text.charCodeAt(i)) | 0
  return hash & 0x3fff_ffff
}
