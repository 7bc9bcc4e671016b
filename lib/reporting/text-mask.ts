// So long is the shortest piece of a value that is told from a coincidence.
const WINDOW = 8
const BASE = 0x01_00_01_93
// The weight of a window's first character.
const TOP = Array.from({ length: WINDOW - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1)
// A byte for each window of a text and so many more, so that few windows of values are looked up in vain.
const FILTER_SPARSITY = 16
// So many characters are compared, in all, to tell whether long values are there as a whole: texts and
// values of one letter would take for ever. Past it a piece may get the label of another value.
const MOST_COMPARED = 16_777_216
// Stands between two texts; no value is searched for across it.
const BOUNDARY = '\u0000'
// Every other message has it.
const COMMONPLACE = 'https://'

/**
 * Masks in texts what they share with values: each run of {@link WINDOW} characters, and values
 * shorter than that as a whole; capitals, of any script, and `+` for a space make no difference. In time
 * linear in the texts and the values, however many: by rolling hashes (Rabin and Karp's) and an index.
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
  readonly #numbers = new Map<string, number>()
  // By their length: of short values most requests have few.
  readonly #indexes = new Map<number, RunIndex>()
  readonly #windows: RunIndex
  // Whether any window has a hash of these last bits, a power of two: asked for every character of every value.
  readonly #filter: Uint8Array
  #compared = 0

  constructor(texts: readonly string[]) {
    this.#text = texts.join(BOUNDARY)
    this.#lengths = texts.map(({ length }) => length)
    this.#folded = fold(this.#text)
    this.#covered = new Uint16Array(this.#text.length)
    this.#strengths = new Uint32Array(this.#text.length)
    this.#windows = this.#indexOf(WINDOW)
    this.#filter = new Uint8Array(
      2 ** Math.ceil(Math.log2(FILTER_SPARSITY * (this.#text.length + 1))),
    )
    const bits = this.#filter.length - 1
    eachWindow(this.#folded, (hash) => {
      this.#filter[hash & bits] = 1
    })
  }

  /** Covers what the texts share with a value. */
  cover(label: string, value: string): void {
    const folded = fold(value)
    if (folded.length < WINDOW) {
      this.#coverRun(this.#indexOf(folded.length), folded, label, folded.length)
      return
    }
    let met = 0
    const bits = this.#filter.length - 1
    eachWindow(folded, (hash, at) => {
      if (this.#filter[hash & bits] === 0) return
      if (this.#coverRun(this.#windows, folded.slice(at, at + WINDOW), label)) met++
    })
    if (met > folded.length - WINDOW) this.#coverWhole(folded, label)
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
  #fill(label: string, start: number, length: number, strength: number): void {
    const number = this.#numberOf(label)
    for (let at = start; at < start + length; at++) {
      if (strength <= (this.#strengths[at] ?? 0)) continue
      this.#strengths[at] = strength
      this.#covered[at] = number
    }
  }

  #indexOf(length: number): RunIndex {
    let index = this.#indexes.get(length)
    if (index === undefined) {
      index = new RunIndex(this.#folded, length)
      this.#indexes.set(length, index)
    }
    return index
  }

  // Wherever it is, and whether it is anywhere.
  #coverRun(index: RunIndex, run: string, label: string, strength = 1): boolean {
    const first = index.first(run)
    if (first < 0) return false
    // Once: the next value would cover the same, no better.
    if (!index.visit(first)) return true
    for (let at = first; at >= 0; at = index.next(at)) {
      this.#fill(label, at, run.length, strength)
    }
    return true
  }

  // All of it is covered by now: what is left to find is whose it is.
  #coverWhole(value: string, label: string): void {
    let end = 0
    const first = this.#windows.first(value.slice(0, WINDOW))
    for (let at = first; at >= 0; at = this.#windows.next(at)) {
      if (this.#compared > MOST_COMPARED) return
      this.#compared += at < end ? 1 : value.length
      if (at < end || !this.#folded.startsWith(value, at)) continue
      this.#fill(label, at, value.length, value.length)
      end = at + value.length
    }
  }

  #numberOf(label: string): number {
    const known = this.#numbers.get(label)
    if (known !== undefined) return known
    // A thousand parameters have a thousand names, but no more than one text shows.
    const number = this.#labels.length < 1_024 ? this.#labels.push(label) - 1 : 1
    this.#numbers.set(label, number)
    return number
  }
}

/** Where a text has each of its runs of so many characters. */
class RunIndex {
  readonly #first = new Map<string, number>()
  // For each place, the next one with the same run; -1 for none.
  readonly #next: Int32Array
  readonly #visited: Uint8Array

  constructor(text: string, length: number) {
    this.#next = new Int32Array(text.length)
    this.#visited = new Uint8Array(text.length)
    for (let at = text.length - length; at >= 0; at--) {
      const run = text.slice(at, at + length)
      this.#next[at] = this.first(run)
      this.#first.set(run, at)
    }
  }

  /** The first place of a run; -1 for none. */
  first(run: string): number {
    return this.#first.get(run) ?? -1
  }

  /** The next place with the run of this one; -1 for none. */
  next(place: number): number {
    return this.#next[place] ?? -1
  }

  /** Whether it is the first visit to a place. */
  visit(place: number): boolean {
    if (this.#visited[place] === 1) return false
    this.#visited[place] = 1
    return true
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
  // Most text has nothing to fold; and to see that takes a third of the time.
  return /[A-Z+\u0080-\uffff]/.test(text) ? foldCase(text).replaceAll('+', ' ') : text
}

// By way of the capitals: ı, ſ and ς share theirs with i, s and σ.
function foldCase(text: string): string {
  if (!/[\u0080-\uffff]/.test(text)) return text.toLowerCase()
  const folded = text.toUpperCase().toLowerCase().replaceAll('ς', 'σ')
  if (folded.length === text.length) return folded
  // SS would take the place of ß: such letters are made small only, and cut to their length.
  return text.replace(/./gsu, (letter) => {
    const same = letter.toUpperCase().toLowerCase()
    return (same.length === letter.length ? same : letter.toLowerCase()).slice(0, letter.length)
  })
}
