import { replaceAll } from '../http/params.ts'

// The length of the shortest part of a value that is masked. A shorter match may be a coincidence.
export const WINDOW = 8
const HALF_WINDOW = 4
// Entries of the filter for each character of the texts: few values pass by chance.
const FILTER_SPARSITY = 32
// Many messages and most values contain it.
const COMMONPLACE = 'https://'

/**
 * Masks the characters that texts share with values: runs of {@link WINDOW} characters, and shorter
 * values as a whole. Case, in any script, and `+` for a space make no difference.
 *
 * One label replaces all consecutive masked characters: that of the first value that has their
 * first run. The time is linear in the texts and the values.
 */
export class TextMask {
  readonly #texts: readonly string[]
  readonly #folded: readonly string[]
  // 1 for the hash of each run of 4 and of 8 characters of the texts. A look-up takes 10 ns for each
  // character of a value; in a Map of the runs, it would take 80 ns.
  readonly #filter: Uint8Array
  // The runs of the values that passed the filter, each with the label of its first value.
  readonly #labels = new Map<string, string>()
  readonly #lengths = new Set<number>()

  constructor(texts: readonly string[]) {
    this.#texts = texts
    this.#folded = texts.map(fold)
    const size = texts.reduce((sum, { length }) => sum + length, 1)
    this.#filter = new Uint8Array(2 ** Math.ceil(Math.log2(FILTER_SPARSITY * size)))
    for (const text of this.#folded) {
      for (const length of [HALF_WINDOW, WINDOW]) {
        this.#eachRun(text, length, (hash) => {
          this.#filter[hash] = 1
        })
      }
    }
  }

  /** Masks the characters that the texts share with a value. */
  cover(label: string, value: string): void {
    const folded = fold(value)
    if (folded.length < WINDOW) {
      let missing = 0
      this.#eachRun(folded, HALF_WINDOW, (hash) => {
        if (this.#filter[hash] === 0) missing++
      })
      if (missing === 0) this.#add(label, folded)
      return
    }
    this.#eachRun(folded, WINDOW, (hash, at) => {
      if (this.#filter[hash] === 1) this.#add(label, folded.slice(at, at + WINDOW))
    })
  }

  /** Returns the texts, with labels such as `[dsh]` in place of masked characters. */
  texts(): string[] {
    return this.#texts.map((text, i) => withLabels(text, this.#labelsOf(this.#folded[i] ?? '')))
  }

  #add(label: string, run: string): void {
    if (this.#labels.has(run)) return
    this.#labels.set(run, label)
    this.#lengths.add(run.length)
  }

  // Each character shifts the earlier ones, so only the last `length` of them are in the hash.
  #eachRun(text: string, length: number, visit: (hash: number, at: number) => void): void {
    const last = this.#filter.length - 1
    let bits = 0
    for (let i = 0; i < text.length; i++) {
      bits = (bits << (32 / length)) ^ text.charCodeAt(i)
      const at = i - length + 1
      // Only the upper bits of the product depend on all characters.
      if (at >= 0) visit((Math.imul(bits, 0x9e3779b1) >>> 8) & last, at)
    }
  }

  // The label of each masked character, by its index.
  #labelsOf(folded: string): readonly (string | undefined)[] {
    const labels: (string | undefined)[] = []
    for (const length of [...this.#lengths].sort((a, b) => b - a)) {
      for (let at = 0; at + length <= folded.length; at++) {
        const label = this.#labels.get(folded.slice(at, at + length))
        if (label === undefined) continue
        for (let i = at; i < at + length; i++) labels[i] ??= label
      }
    }
    return labels
  }
}

function withLabels(text: string, labels: readonly (string | undefined)[]): string {
  if (labels.length === 0) return text
  let masked = ''
  for (let at = 0; at < text.length; ) {
    const label = labels[at]
    let end = at + 1
    while (end < text.length && (labels[end] === undefined) === (label === undefined)) end++
    const run = text.slice(at, end)
    // White space at the ends of a run is not secret, and it separates the words.
    masked +=
      label === undefined || run === COMMONPLACE
        ? run
        : run.replace(/\S(?:.*\S)?/s, () => `[${label}]`)
    at = end
  }
  return masked
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
