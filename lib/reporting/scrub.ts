import { escapeHtml } from '../http/html.ts'
import { decodePercent, replaceAll } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { splitTarget } from '../http/target.ts'
import { isName, shapeOf } from './shape.ts'
import { TextMask, WINDOW } from './text-mask.ts'

// Masking every `1` and every `no` would make texts unreadable. Three characters protect no secret,
// because they are guessed at once.
const MIN_VALUE_LENGTH = 4

// Limits of the CPU time of one error: the characters of all texts, and of the values in all their
// forms. A text past a limit is not searched.
const MAX_TEXT = 16_384
const MAX_SEARCHED = 65_536
// The cost of a value in addition to its characters.
const SEARCH_OVERHEAD = 48

// A URL may contain a URL that contains a URL, and each level adds an encoding.
const MAX_DECODINGS = 6
const MAX_PIECES = 2_000

// Headers without secrets. Any other header may contain a key.
const HARMLESS_HEADERS = new Set(
  [
    'accept accept-encoding accept-language cache-control connection content-length',
    'content-type date dnt expect host keep-alive origin pragma te trailer transfer-encoding',
    'upgrade upgrade-insecure-requests user-agent via',
  ].flatMap((names) => names.split(' ')),
)

/** A form in which a text may contain a value. */
interface Writing {
  /** A character that every text with this form contains. */
  readonly sign: string
  /** Matches values that this form changes in another way than the forms above. */
  readonly changed: RegExp
  readonly write: (value: string) => string
}

const WRITINGS: readonly Writing[] = [
  {
    sign: '\\',
    changed: /["\\\u0000-\u001f]/,
    write: (value) => JSON.stringify(value).slice(1, -1),
  },
  { sign: '&', changed: /[&<>"']/, write: escapeHtml },
  { sign: '%', changed: /[^\w.!~*'()-]/, write: encodeURIComponent },
  { sign: '%', changed: /\+/, write: (value) => encodeURIComponent(replaceAll(value, '+', ' ')) },
  { sign: '%', changed: /[ +!'()~]/, write: encodeField },
]

/** A value of a request, and the label that replaces it in a text. */
type LabelledValue = readonly [label: string, value: string]

/**
 * Removes the values of a request from texts: parameters, path segments past the action, headers
 * that may hold credentials; as they were sent, decoded once and more, and as JSON, HTML and a URL
 * would escape them. Masks every run of eight characters that a text shares with a value, so a
 * piece of a value is found as well as the whole. Shorter values are found whole. The label is the
 * name of the parameter: `[dsh]`.
 *
 * @returns The texts in the same order; undefined for a text that is not searched, because it, the
 * texts together or the values are too long.
 */
export function scrubAll(texts: readonly string[], request: HttpRequest): (string | undefined)[] {
  let length = 0
  const searched = texts.map((text) => {
    if (length + text.length > MAX_TEXT) return undefined
    length += text.length
    return withoutSnippet(text)
  })
  if (length === 0) return searched
  const mask = new TextMask(searched.map((text) => text ?? ''))
  if (!coverValues(mask, searched.join(''), request)) return texts.map(() => undefined)
  const masked = mask.texts()
  return searched.map((text, i) => text && masked[i])
}

/** Scrubs one text, see {@link scrubAll}; a text that was not searched becomes its shape. */
export function scrub(text: string, request: HttpRequest): string {
  return scrubAll([text], request)[0] ?? `[${shapeOf(text)}]`
}

// Returns false if the values are too long to be searched for.
function coverValues(mask: TextMask, texts: string, request: HttpRequest): boolean {
  const writings = WRITINGS.filter(({ sign }) => texts.includes(sign))
  const { form, target } = stateOf(request)
  // Checks the limit before the values are split, because that takes time too.
  if (target.length + (form?.bytes.length ?? 0) > MAX_SEARCHED) return false
  let left = MAX_SEARCHED
  const cover = (label: string, value: string): void => {
    left -= value.length + SEARCH_OVERHEAD
    if (left >= 0) mask.cover(label, value)
  }
  for (const [label, value] of valuesOf(request, form?.text ?? '')) {
    for (const decoded of decodings(value)) {
      if (decoded.length < MIN_VALUE_LENGTH) break
      cover(label, decoded)
      for (const { changed, write } of writings) {
        if (left >= 0 && changed.test(decoded)) cover(label, write(decoded))
      }
      if (left < 0) return false
    }
  }
  return true
}

// Encodes like a form: a plus sign may have been a space. URLSearchParams takes five times as long.
function encodeField(value: string): string {
  return encodeURIComponent(replaceAll(value, '+', ' ')).replace(/%20|[!'()~]/g, (part) =>
    part === '%20' ? '+' : `%${part.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

// V8 quotes invalid JSON. It may be a parameter, or part of a body that is not searched here.
function withoutSnippet(text: string): string {
  const end = /"(?:\.\.\.)? is not valid JSON/.exec(text)
  const start = text.indexOf('"')
  if (end === null || start === end.index) return text
  const before = text.slice(0, start).replace(/\.\.\.$/, '')
  return `${before}[text] is not valid JSON${text.slice(end.index + end[0].length)}`
}

function* valuesOf(request: HttpRequest, form: string): Generator<LabelledValue> {
  const { path, search } = splitTarget(request.target)
  // The absolute form may contain a user and a password.
  if (!path.startsWith('/')) yield ['origin', path]
  yield* pathValues(request)
  yield* fieldValues(search)
  yield* fieldValues(form)
  for (const [name, value] of Object.entries(request.headers)) {
    if (HARMLESS_HEADERS.has(name)) continue
    for (const field of [value ?? []].flat()) yield* headerValues(name, field)
  }
}

// Module, controller and action are shown if they look like names. Any other segment may be secret.
function* pathValues(request: HttpRequest): Generator<LabelledValue> {
  const { path, pairs, module, controller, action } = request
  const names = new Set([module, controller, action].filter(isName))
  for (const segment of path.split('/')) if (!names.delete(segment)) yield ['path', segment]
  // Also searches for the joined segments: a text may quote the path.
  yield ['path', path.split('/').slice(3).join('/')]
  for (const [name, value] of pairs) yield [labelOf(name), value]
}

// Returns the values as they were sent. A text may contain that form, or the decoded form.
function* fieldValues(search: string): Generator<LabelledValue> {
  for (const field of search.split('&')) {
    if (field === '') continue
    const equals = field.indexOf('=')
    const name = decodePercent(equals < 0 ? field : field.slice(0, equals))
    // A field without a name may be a token.
    if (!isName(name)) yield ['name', name]
    if (equals < 0) continue
    const value = field.slice(equals + 1)
    yield [labelOf(name), value]
    yield* piecesOf(labelOf(name), decodePercent(value))
  }
}

function* headerValues(name: string, field: string): Generator<LabelledValue> {
  yield [name, field]
  yield* piecesOf(name, field)
  if (!name.endsWith('authorization')) return
  const credentials = Buffer.from(field.split(/\s+/).at(-1) ?? '', 'base64').toString()
  // Basic credentials are a user and a password in base64.
  yield [name, credentials]
  for (const part of [credentials.split(':', 1)[0] ?? '', credentials.replace(/^[^:]*:/, '')]) {
    yield [name, part]
  }
}

// Returns the parts with a meaning of their own: values of a nested query, items of a list.
function* piecesOf(label: string, value: string): Generator<LabelledValue> {
  for (const piece of value.split(/[\s?&#;,"]+/, MAX_PIECES)) {
    const equals = piece.indexOf('=')
    for (const part of equals < 0 ? [piece] : [piece, piece.slice(equals + 1)]) {
      // The windows of a longer part are windows of the value.
      if (part.length < WINDOW || part.includes('%')) yield [label, part]
    }
  }
}

// Returns the value, and the results of decoding it repeatedly: so nested URLs are searched too.
function* decodings(value: string): Generator<string> {
  let decoded = value.toWellFormed()
  for (let i = 0; i <= MAX_DECODINGS; i++) {
    yield decoded
    const next = decodePercent(decoded)
    if (next === decoded) return
    decoded = next
  }
}

function labelOf(name: string): string {
  return isName(name) ? name : 'value'
}
