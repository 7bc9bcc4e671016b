import { replaceAll } from '../http/params.ts'
import { lazyPattern } from './printable.ts'

/** A text as code would read it: decoded, folded or without separators. */
export interface TextForm {
  readonly text: string
  /** For each character, the index in the original text where its part begins; and the end of that text. */
  readonly starts: Int32Array
}

// Stands between two texts. No value contains a lone surrogate, so no run of a value crosses the border.
export const BORDER = '\ud800'

interface EscapeKind {
  /** A character that every escape of this kind contains. */
  readonly sign: string
  readonly pattern: RegExp
  readonly decode: (escaped: string) => string
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  lt: '<',
  gt: '>',
  quot: '"',
}
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

const ESCAPES: readonly EscapeKind[] = [
  {
    sign: '%',
    // A character in UTF-8, or a byte of another charset.
    pattern:
      /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-4](?:%[89ab][\da-f]){3}|%[89a-f][\da-f]/gi,
    decode(escaped) {
      if (escaped.length === 3) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
      const bytes = Buffer.from(escaped.replaceAll('%', ''), 'hex')
      return bytes.toString()
    },
  },
  {
    sign: '\\',
    // JSON writes a character past U+FFFF as two escapes.
    pattern:
      /\\(?:ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|u\{[\da-f]{1,5}\}|x[\da-f]{2}|[^\ud800])/gi,
    decode(escaped) {
      const code = escaped.slice(1)
      // Most escapes are of this kind.
      if (code.length === 1) return CONTROLS[code] ?? code
      if (escaped.length === 12) return JSON.parse(`"${escaped.toLowerCase()}"`)
      const [hex = ''] = /[\da-f]+/i.exec(code) ?? []
      return String.fromCodePoint(Number.parseInt(hex, 16)).toWellFormed()
    },
  },
  {
    sign: '&',
    pattern: /&(?:amp|apos|lt|gt|quot|#\d{1,6}|#x[\da-f]{1,5});/gi,
    decode(escaped) {
      const name = escaped.slice(1, -1).toLowerCase()
      const code = name.startsWith('#x')
        ? Number.parseInt(name.slice(2), 16)
        : Number(name.slice(1))
      return ENTITIES[name] ?? String.fromCodePoint(code).toWellFormed()
    },
  },
]

const MAX_FORMS = 6

/**
 * Returns the forms of a text in which a value may stand: as it is, with each kind of escape decoded (percent-encoding,
 * backslashes as in JSON, HTML), and with all kinds decoded, also several times. Six forms at most; all of them folded.
 */
export function* formsOf(text: string): Generator<TextForm> {
  const seen = new Set<string>()
  const folded = new Map<string, string>()
  for (const form of decodedFormsOf(text)) {
    if (seen.has(form.text)) continue
    yield foldForm(form, folded)
    seen.add(form.text)
    if (seen.size === MAX_FORMS) return
  }
}

function* decodedFormsOf(text: string): Generator<TextForm> {
  let former: TextForm = { text, starts: identity(text.length) }
  yield former
  // The text with the escapes of all kinds decoded.
  let decoded = former
  for (const kind of ESCAPES) {
    const alone = decodeForm(former, kind)
    yield alone
    // Most texts have escapes of one kind, which this does not decode twice.
    decoded = decoded === former ? alone : decodeForm(decoded, kind)
  }
  while (decoded.text !== former.text) {
    yield decoded
    former = decoded
    decoded = ESCAPES.reduce(decodeForm, former)
  }
}

/** Decodes the backslashes and the entities of a value once. */
export function unescaped(value: string): string {
  let text = value
  for (const { sign, pattern, decode } of ESCAPES.slice(1)) {
    if (text.includes(sign)) text = text.replace(pattern, decode)
  }
  return text
}

/** Returns a form without white space and punctuation: `4539-1488` as 45391488. */
export function squeezedForm(form: TextForm): TextForm {
  return mapForm(form, form.text, SEPARATORS, () => '')
}

// A number of a card, a telephone or an account may be written in groups, or without them, and have a label. A list of
// pairs, such as a form, is not a number.
const GROUPED = /^(?=(?:\D*\d){4})[^=;&]{8,64}$/

/** Returns a folded value without white space and punctuation, if it may be a number in groups; else ''. */
export function withoutGroups(folded: string): string {
  return GROUPED.test(folded) ? squeeze(folded) : ''
}

/** Returns a folded text without white space and punctuation. */
export function squeeze(folded: string): string {
  return folded.replace(SEPARATORS, '')
}

const SEPARATORS = /[^a-z\d\u0080-\u1fff\u2070-\uffff]+/g

/**
 * Folds a value: case, accents, compatible characters (ligatures, full-width letters) and `+` for a space make no
 * difference.
 */
export function fold(text: string): string {
  if (!/[A-Z+\u0080-\uffff]/.test(text)) return text
  const others = text.match(OTHERS) ?? []
  const folded = areFew(others, text) ? foldRuns(text, others) : foldOthers(text)
  return replaceAll(folded, '+', ' ').toLowerCase()
}

function foldRuns(text: string, others: readonly string[]): string {
  if (others.length === 0) return text
  const folded = foldOthers(others.join('\0')).split('\0')
  let count = 0
  return text.replace(OTHERS, () => folded[count++] as string)
}

function foldOthers(text: string): string {
  const single = text.replace(PHRASES, ' ')
  const cut = single.length > MAX_MARKS ? single.replace(longMarks(), firstMarks) : single
  // The capital of ᾳ is ΑΙ.
  const marked = cut.normalize('NFKD').replace(IOTA_SUBSCRIPTS, 'ι')
  const decomposed = marked.replace(accents(), '')
  // Through capitals, because ß has the capital SS; first to lower case, because ẞ would stay as it is. The last step makes some ς.
  const lower = decomposed.toLowerCase().toUpperCase().toLowerCase()
  return lower.replace(/[ςłøđħŧ]/g, (letter) => WITHOUT_STROKE[letter] ?? 'σ')
}

/** Returns the cost of folding a text, in characters of an index. */
export function foldCost(text: string): number {
  if (IS_ASCII.test(text)) return 0
  const others = text.match(OTHERS) ?? []
  return FOLD_COST * (areFew(others, text) ? others.join('').length : text.length)
}

// Most texts have few runs of other letters. Folding all of such a text would take ten times as long.
function areFew(others: readonly string[], text: string): boolean {
  return others.length * MIXED < text.length
}

// A text with a run of other letters in so many characters, or with more of them, is folded as a whole.
const MIXED = 8
const IS_ASCII = /^[\0-\x7f\ud800]*$/
const IOTA_SUBSCRIPTS = /\u0345/g
// Ligatures of whole phrases, which would be up to 18 times as long.
const PHRASES = /[\ufdf0-\ufdfd]/g
// Maximum marks of one character (UAX #15): to sort them takes time that grows with the square of their number, 0.3 s for 32,000.
const MAX_MARKS = 30
const firstMarks = (run: string): string => run.slice(0, MAX_MARKS)
// Folding a character that is not ASCII takes as long as indexing six characters.
const FOLD_COST = 6
// The half-width voiced sound marks of Japanese become marks too.
const longMarks = lazyPattern(
  `(?<![\\p{M}\\uff9e\\uff9f])[\\p{M}\\uff9e\\uff9f]{${MAX_MARKS + 1},}`,
  'gu',
)
// Characters that are not ASCII, without most ideographs, which folding does not change. To search for `\p` takes ten times as long.
const OTHERS = /[^\0-\x7f\u3400-\u4dbf\u4e00-\u9fff]+/g
const OTHER = /[\ud800-\udbff][\udc00-\udfff]|[^\0-\x7f\u3400-\u4dbf\u4e00-\u9fff]/g
const accents = lazyPattern('\\p{M}+', 'gu')
const WITHOUT_STROKE: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', đ: 'd', ħ: 'h', ŧ: 't' }

// `folded` has the characters that other forms have needed.
function foldForm(form: TextForm, folded: Map<string, string>): TextForm {
  const { text, starts } = form
  // Folding each capital alone would take twice as long. Only İ would become two characters.
  const lowerCase = replaceAll(text, '+', ' ').replaceAll('İ', 'I').toLowerCase()
  if (IS_ASCII.test(text)) return { text: lowerCase, starts }
  return mapForm(form, lowerCase, OTHER, (character) => {
    const result =
      folded.get(character) ?? (foldCost(character) === 0 ? character : fold(character))
    folded.set(character, result)
    return result
  })
}

function decodeForm(form: TextForm, { sign, pattern, decode }: EscapeKind): TextForm {
  return form.text.includes(sign) ? mapForm(form, form.text, pattern, decode) : form
}

function mapForm(
  { starts }: TextForm,
  text: string,
  pattern: RegExp,
  map: (part: string) => string,
): TextForm {
  const kept: number[] = []
  let end = 0
  const keep = (to: number): void => {
    for (; end < to; end++) kept.push(starts[end] as number)
  }
  // No pattern has groups.
  const mapped = text.replace(pattern, (part, index: number) => {
    keep(index)
    const result = map(part)
    for (let i = 0; i < result.length; i++) kept.push(starts[index] as number)
    end = index + part.length
    return result
  })
  keep(text.length + 1)
  return { text: mapped, starts: new Int32Array(kept) }
}

function identity(length: number): Int32Array {
  const starts = new Int32Array(length + 1)
  for (let i = 0; i <= length; i++) starts[i] = i
  return starts
}
