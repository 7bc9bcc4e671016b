// So long is the shortest piece of a value that is told from a coincidence.
const WINDOW = 8
const BASE = 0x01_00_01_93
// The weight of a window's first character.
const TOP = Array.from({ length: WINDOW - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1)
const FILTER_MASK = 0xffff
// So often a window of the texts is met in values: it is covered the first time.
const MOST_VISITS = 16
// Stands between two texts; no value is searched for across it.
const BOUNDARY = '\u0000'
// Every other message has it.
const COMMONPLACE = 'https://'

/**
 * Masks in texts what they share with values: each run of {@link WINDOW} characters, and values
 * shorter than that as a whole; capitals and `+` for a space make no difference. In time linear in the
 * texts and the values: by rolling hashes (Rabin and Karp's), each window of the texts met once.
 */
export class TextMask {
  readonly #text: string
  readonly #lengths: readonly number[]
  readonly #folded: string
  // For each character, which label covers it; 0 for none.
  readonly #covered: Uint16Array
  // How much of a value it was that covered it.
  readonly #strengths: Uint32Array
  readonly #labels: string[] = ['']
  // By its hash: where the texts have a window, and how often it was met.
  readonly #windows = new Map<number, { readonly places: number[]; visits: number }>()
  // Whether any window has a hash of these last bits: asked for every character of every value.
  readonly #filter = new Uint8Array(FILTER_MASK + 1)

  constructor(texts: readonly string[]) {
    this.#text = texts.join(BOUNDARY)
    this.#lengths = texts.map(({ length }) => length)
    this.#folded = fold(this.#text)
    this.#covered = new Uint16Array(this.#text.length)
    this.#strengths = new Uint32Array(this.#text.length)
    eachWindow(this.#folded, (hash, at) => {
      this.#filter[hash & FILTER_MASK] = 1
      const window = this.#windows.get(hash)
      if (window === undefined) this.#windows.set(hash, { places: [at], visits: 0 })
      else window.places.push(at)
    })
  }

  /** Covers what the texts share with a value. */
  cover(label: string, value: string): void {
    const folded = fold(value)
    const number = this.#numberOf(label)
    if (folded.length < WINDOW) {
      this.#coverWhole(folded, number)
      return
    }
    let isMet = false
    eachWindow(folded, (hash, at) => {
      if (this.#coverWindow(hash, folded, at, number)) isMet = true
    })
    if (isMet) this.#coverWhole(folded, number)
  }

  /** The texts, with labels in place of what is covered. */
  texts(): string[] {
    let start = 0
    // By their lengths: a text may hold the boundary itself.
    return this.#lengths.map((length) => {
      const end = start + length
      const masked = this.#masked(start, end)
      start = end + BOUNDARY.length
      return masked
    })
  }

  #masked(start: number, end: number): string {
    let masked = ''
    for (let at = start; at < end; ) {
      const number = this.#covered[at] ?? 0
      const until = this.#endOfRun(at, end, number)
      const run = this.#text.slice(at, until)
      // White space at its ends was shared by chance.
      masked +=
        number === 0 || run === COMMONPLACE
          ? run
          : run.replace(/\S(?:.*\S)?/s, () => `[${this.#labels[number]}]`)
      at = until
    }
    return masked
  }

  #endOfRun(start: number, end: number, number: number): number {
    let at = start
    while (at < end && this.#covered[at] === number) at++
    return at
  }

  // The longest value that is there as a whole names a character, before all that share a piece with it.
  #fill(number: number, start: number, length: number, strength = 1): void {
    for (let at = start; at < start + length; at++) {
      if (strength <= (this.#strengths[at] ?? 0)) continue
      this.#strengths[at] = strength
      this.#covered[at] = number
    }
  }

  #coverWhole(value: string, number: number): void {
    for (let at = this.#folded.indexOf(value); at >= 0; ) {
      this.#fill(number, at, value.length, value.length)
      at = this.#folded.indexOf(value, at + value.length)
    }
  }

  #coverWindow(hash: number, value: string, at: number, number: number): boolean {
    if (this.#filter[hash & FILTER_MASK] === 0) return false
    const met = this.#windows.get(hash)
    if (met === undefined) return false
    const window = value.slice(at, at + WINDOW)
    for (const place of met.places) {
      // Two windows may have one hash.
      if (this.#folded.startsWith(window, place)) this.#fill(number, place, WINDOW)
    }
    // A text and a value of one letter would take for ever.
    if (++met.visits === MOST_VISITS) this.#windows.delete(hash)
    return true
  }

  #numberOf(label: string): number {
    const known = this.#labels.indexOf(label, 1)
    if (known > 0) return known
    // A thousand parameters have a thousand names, but no more than one text shows.
    return this.#labels.length < 1_024 ? this.#labels.push(label) - 1 : 1
  }
}

function eachWindow(text: string, visit: (hash: number, at: number) => void): void {
  let hash = 0
  for (let i = 0; i < text.length; i++) {
    if (i >= WINDOW) hash -= Math.imul(text.charCodeAt(i - WINDOW), TOP)
    hash = (Math.imul(hash, BASE) + text.charCodeAt(i)) | 0
    if (i >= WINDOW - 1) visit(hash, i - WINDOW + 1)
  }
}

// Of the same length: a place in the folded text is one in the text.
function fold(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase()).replaceAll('+', ' ')
}
