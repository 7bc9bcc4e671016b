import { escapeHtml } from '../http/html.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { splitTarget } from '../http/target.ts'
import { isName, shapeOf } from './shape.ts'
import { TextMask } from './text-mask.ts'

/**
 * Values shorter than this are left in the text: to scrub every `1` and every `no` would only maul it.
 * That is safe: three characters are guessed in no time, so they are nobody's secret.
 */
const SHORTEST = 4

// Longer text is not searched, but told by its shape.
const LONGEST = 16_384
// A URL may hold a URL that holds a URL, and each adds an encoding.
const MOST_DECODINGS = 6
const MOST_PIECES = 2_000

// What everybody sends, and nobody keeps secret. Any other header may hold a key.
const HARMLESS_HEADERS = new Set(
  [
    'accept accept-encoding accept-language cache-control connection content-length',
    'content-type date dnt expect host keep-alive origin pragma te trailer transfer-encoding',
    'upgrade upgrade-insecure-requests user-agent via',
  ].flatMap((names) => names.split(' ')),
)

/** A way in which a text may have written a value. */
interface Writing {
  /** What a text holds where something is written so. */
  readonly sign: string
  /** What is not written as it is, or as the writing above would. */
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
  { sign: '%', changed: /\+/, write: (value) => encodeURIComponent(value.replaceAll('+', ' ')) },
  { sign: '%', changed: /[ +!'()~]/, write: encodeField },
]

// Most values, so that they are not even looked at once for each writing.
const ALWAYS_PLAIN = /^[\w.-]*$/

/** A value of a request, and what stands for it in a text. */
type Secret = readonly [label: string, value: string]

/**
 * Texts without the values of a request: parameters, path segments past the action, headers that may
 * hold credentials; as they were sent, decoded once and more, and as JSON, HTML and a URL would escape
 * them. Every run of eight characters that a text shares with one of them is masked, so a piece of a value
 * is found as well as the whole; shorter values are found whole. In their place stands the parameter's
 * name, such as `[dsh]`.
 */
export function scrubAll(texts: readonly string[], request: HttpRequest): string[] {
  // All at once: the values may be a megabyte, and are gone through once.
  const searched = texts.map((text) =>
    text.length > LONGEST ? `[${shapeOf(text)}]` : withoutSnippet(text),
  )
  const mask = new TextMask(searched)
  const all = searched.join('')
  const writings = WRITINGS.filter(({ sign }) => all.includes(sign))
  for (const [label, value] of secretsOf(request)) {
    for (const decoded of decodings(value.toWellFormed())) {
      if (decoded.length < SHORTEST) break
      mask.cover(label, decoded)
      if (writings.length === 0 || ALWAYS_PLAIN.test(decoded)) continue
      for (const { changed, write } of writings) {
        if (changed.test(decoded)) mask.cover(label, write(decoded))
      }
    }
  }
  return mask.texts()
}

/** {@link scrubAll}, of one text. */
export function scrub(text: string, request: HttpRequest): string {
  return scrubAll([text], request)[0] ?? ''
}

// As a form writes it; a plus sign may have been a space. By hand: URLSearchParams takes five times as long.
function encodeField(value: string): string {
  return encodeURIComponent(value.replaceAll('+', ' ')).replace(/%20|[!'()~]/g, (part) =>
    part === '%20' ? '+' : `%${part.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

// V8 quotes what could not be parsed, be it of a parameter or of a body that was never seen here.
function withoutSnippet(text: string): string {
  const end = /"(?:\.\.\.)? is not valid JSON/.exec(text)
  const start = text.indexOf('"')
  if (end === null || start === end.index) return text
  const before = text.slice(0, start).replace(/\.\.\.$/, '')
  return `${before}[text] is not valid JSON${text.slice(end.index + end[0].length)}`
}

function* secretsOf(request: HttpRequest): Generator<Secret> {
  const { path, search } = splitTarget(request.target)
  // Of the absolute form: it may hold a user and a password.
  if (!path.startsWith('/')) yield ['origin', path]
  yield* pathSecrets(request)
  yield* fieldSecrets(search)
  yield* fieldSecrets(stateOf(request).form?.text ?? '')
  for (const [name, value] of Object.entries(request.headers)) {
    if (HARMLESS_HEADERS.has(name)) continue
    for (const field of [value ?? []].flat()) yield* headerSecrets(name, field)
  }
}

// The names are told, where they are names; what lies past them may be anything.
function* pathSecrets({ path, pairs, module, controller, action }: HttpRequest): Generator<Secret> {
  const names = new Set([module, controller, action].filter(isName))
  for (const segment of path.split('/')) if (!names.delete(segment)) yield ['path', segment]
  // Joined, as somebody may quote the path.
  yield ['path', path.split('/').slice(3).join('/')]
  for (const [name, value] of pairs) yield [labelOf(name), value]
}

// As sent: an error may quote that, or what it was decoded to.
function* fieldSecrets(search: string): Generator<Secret> {
  for (const field of search === '' ? [] : search.split('&')) {
    const equals = field.indexOf('=')
    const name = decode(equals < 0 ? field : field.slice(0, equals))
    // A field without a value may be a token that nobody gave a name.
    if (!isName(name)) yield ['name', name]
    if (equals < 0) continue
    const value = field.slice(equals + 1)
    yield [labelOf(name), value]
    yield* pieces(labelOf(name), decode(value))
  }
}

function* headerSecrets(name: string, field: string): Generator<Secret> {
  yield [name, field]
  yield* pieces(name, field)
  if (!name.endsWith('authorization')) return
  const credentials = Buffer.from(field.split(/\s+/).at(-1) ?? '', 'base64').toString()
  // A user and a password, only in another alphabet.
  yield [name, credentials]
  for (const part of [credentials.split(':', 1)[0] ?? '', credentials.replace(/^[^:]*:/, '')]) {
    yield [name, part]
  }
}

// The parts of a value that mean something by themselves: the values of a nested query, of a list.
function* pieces(label: string, value: string): Generator<Secret> {
  for (const piece of value.split(/[\s?&#;,"]+/, MOST_PIECES)) {
    if (piece.length < value.length) yield [label, piece]
    const equals = piece.indexOf('=')
    if (equals >= 0) yield [label, piece.slice(equals + 1)]
  }
}

// The value and what it decodes to, again and again: that flattens the URLs in it too.
function* decodings(value: string): Generator<string> {
  let decoded = value
  for (let i = 0; i <= MOST_DECODINGS; i++) {
    yield decoded
    const next = decode(decoded)
    if (next === decoded) return
    decoded = next
  }
}

// Bad escapes stay as they are; `+` and a space are one to the mask.
function decode(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // Run by run, so that a bad one hides no good one; slower by far.
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
      Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
    )
  }
}

function labelOf(name: string): string {
  return isName(name) ? name : 'value'
}
