import { decodePercent, parsePairs } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { splitTarget } from '../http/request-line.ts'
import { paramNameRule } from './sent-params.ts'
import { isName, NUMERIC } from './shape.ts'
import { foldCost } from './text-forms.ts'
import { isLongWhenFolded } from './text-mask.ts'

// Masking every `1` and every `no` would make texts unreadable. Three characters protect no secret: they are guessed at once.
const MIN_VALUE_LENGTH = 4

// Headers without secrets. Any other header may contain a key.
const HARMLESS_HEADERS = new Set(
  [
    'accept accept-encoding accept-language cache-control connection content-length',
    'content-type date dnt expect host keep-alive origin pragma te trailer transfer-encoding',
    'upgrade upgrade-insecure-requests user-agent via',
    // Browsers and proxies send them with every request.
    'alt-used cdn-loop cf-visitor device-memory downlink dpr early-data ect max-forwards priority',
    'purpose rtt save-data service-worker viewport-width width x-requested-with x-scheme',
  ].flatMap((names) => names.split(' ')),
)

// Hints of browsers, and the address of the server, as its proxies saw it.
const HARMLESS_PATTERN =
  /^(?:sec-(?:(?:ch|fetch)-|gpc$|purpose$)|x-forwarded-(?:host|port|prefix|proto|scheme|server|ssl)$)/

// As in `If-Modified-Since` (RFC 9110, section 5.6.7).
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** The elements of `Forwarded` that name the server (RFC 7239). */
export const SERVER_ELEMENTS: RegExp = /(?<![\w-])(?:host|proto)=(?:"[^"]*"|[^;,]*)/gi

const MAX_NAMES = 1_000
const YEAR = /^(?:19|20)\d\d$/

type IsSafe = (name: string) => boolean

/** A value of a request, and the label that replaces it in a text. */
export type LabelledValue = readonly [label: string, value: string]

/** Returns the values of a request, as they were sent or decoded once; a value may occur repeatedly. */
export function* valuesOf(
  request: HttpRequest,
  form: string,
  serverNames: ReadonlySet<string>,
): Generator<LabelledValue> {
  const { path, search } = splitTarget(request.target)
  // The absolute form may contain a user and a password.
  if (!path.startsWith('/')) yield ['origin', path]
  const isSafe = paramNameRule(request)
  yield* pathValues(request, isSafe)
  yield* fieldValues(search, isSafe)
  yield* fieldValues(form, isSafe)
  const { json, ending } = stateOf(request).message
  if (json !== undefined) yield* jsonValues('json', JSON.parse(new TextDecoder().decode(json)))
  for (const secrets of ending?.secrets ?? []) yield* jsonValues('secret', JSON.parse(secrets))
  for (const [name, field] of fieldsOf(request)) {
    if (isHarmless(name, field)) continue
    yield* headerValues(name, withoutOwnNames(field, serverNames, request))
  }
}

/** Reports whether a value is too short to be searched for. Folding may make it longer: three Korean letters become eight. */
export function isShort(value: string): boolean {
  return value.length < MIN_VALUE_LENGTH && foldCost(value) === 0
}

/** Returns the path as it was sent, without the base path. Before the rewrite, there is only the target. */
export function sentPathOf({ path, target }: HttpRequest): string {
  return path || splitTarget(target).path
}

/** Returns the headers as they were sent, and those that code has added. Code may also have removed one. */
export function* fieldsOf(request: HttpRequest): Generator<readonly [name: string, field: string]> {
  const { sentFields } = stateOf(request).message
  const seen = new Set<string>()
  for (const [name, value] of [...sentFields, ...Object.entries(request.headers)]) {
    for (const field of typeof value === 'string' ? [value] : [value ?? []].flat()) {
      const key = `${name}:${field}`
      if (!seen.has(key)) yield [name, String(field)]
      seen.add(key)
    }
  }
}

function isHarmless(name: string, field: string): boolean {
  if (name.startsWith('if-') && HTTP_DATE.test(field)) return true
  return HARMLESS_HEADERS.has(name) || HARMLESS_PATTERN.test(name)
}

/**
 * Returns the values of the path. Module, controller and action are shown if they look like names, and so are the literals of
 * a named route. Any other segment may be secret.
 */
export function* pathValues(request: HttpRequest, isSafe: IsSafe): Generator<LabelledValue> {
  const { pairs } = request
  const { route, firstRoute, settings } = stateOf(request)
  const { module, controller, action } = firstRoute ?? request
  const path = sentPathOf(request)
  const literals = settings.literalsOf?.(firstRoute?.name ?? '') ?? []
  const names = new Set([...[module, controller, action].filter(isName), ...literals])
  // Reports show the names of the pairs, if they look like names.
  const keys = new Set([...pairs.keys()].filter(isSafe))
  const segments = path.split('/').map((segment) => (keys.has(segment) ? '' : segment))
  for (const segment of segments) {
    if (!names.delete(segment)) yield ['path', segment]
  }
  // Also searches for the joined segments: a text may quote the path.
  yield ['path', segments.slice(3).join('/')]
  // A forward may have replaced the variables of a named route.
  const first = (route !== firstRoute && firstRoute?.pairs) || ''
  const replaced = typeof first === 'string' ? parsePairs(first) : first
  for (const [name, value] of pairs) yield [labelOf(name, (each) => keys.has(each)), value]
  for (const [name, value] of replaced) yield [labelOf(name, isSafe), value]
}

// Returns the texts and the numbers of a JSON body by their names, and the names that do not look like names.
function* jsonValues(name: string, json: unknown): Generator<LabelledValue> {
  const left: [name: string, value: unknown, label?: string][] = [[name, json]]
  // To judge a name takes 3 µs. From the thousandth on, the names are searched for.
  const labels = new Map<string, string>()
  const toLabel = (name: string): string => {
    const known = labels.get(name)
    if (known !== undefined || labels.size >= MAX_NAMES) return known ?? 'value'
    const label = labelOf(name)
    labels.set(name, label)
    return label
  }
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    // A name is examined when its turn comes: the search may have ended before.
    const [name, value, label = toLabel(name)] = next
    if (label !== name) yield ['name', name]
    // A list counts as a value too: 1 MB may hold 350,000.
    yield [label, typeof value === 'string' || typeof value === 'number' ? String(value) : '']
    if (Array.isArray(value)) {
      for (const item of value) left.push([label, item, label])
    } else if (typeof value === 'object' && value !== null) {
      left.push(...Object.entries(value))
    }
  }
}

// Returns the values as they were sent. A text may contain that form, or the decoded form.
function* fieldValues(search: string, isSafe: IsSafe): Generator<LabelledValue> {
  for (const field of search.split('&')) {
    if (field === '') continue
    const equals = field.indexOf('=')
    const name = decodePercent(equals < 0 ? field : field.slice(0, equals))
    const label = labelOf(name, isSafe)
    // A field without a name may be a token.
    if (label !== name) yield ['name', name]
    yield [label, equals < 0 ? '' : field.slice(equals + 1)]
  }
}

// A path has a module, a controller and an action, and perhaps a base path.
const MAX_OWN_NAMES = 8
const OWN_ADDRESS = /^(?:https?:\/\/([^/:?#@]+)(?::\d+)?)?(\/.*)?$/

// A page of this server has a URL with its registered names, which are no secret: `Referer`, `X-Original-URI`.
function withoutOwnNames(field: string, hosts: ReadonlySet<string>, request: HttpRequest): string {
  const { isRegistered } = stateOf(request).settings
  let [address, host = '', rest = ''] = OWN_ADDRESS.exec(field) ?? []
  if (address === undefined || (host !== '' && !hosts.has(host))) return field
  for (let names = 0; names < MAX_OWN_NAMES; names++) {
    const [start = '', name = ''] = /^\/([^/?#]*)/.exec(rest) ?? []
    if (start === '' || (name !== '' && isRegistered?.(name) !== true)) return rest
    rest = rest.slice(start.length)
  }
  return rest
}

function* headerValues(name: string, field: string): Generator<LabelledValue> {
  const label = labelOf(name)
  if (label !== name) yield [label, name]
  yield [label, name === 'forwarded' ? field.replace(SERVER_ELEMENTS, '') : field]
  if (name.endsWith('cookie')) yield* cookieValues(label, field)
  if (!name.endsWith('authorization')) return
  const credentials = credentialsIn(field)
  const [user = ''] = credentials.split(':', 1)
  const password = credentials.replace(/^[^:]*:/, '')
  for (const each of [credentials, user, password]) yield [label, each]
}

/** Returns Basic credentials, a user and a password in base64, as a text. */
export function credentialsIn(field: string): string {
  return Buffer.from(field.split(/\s+/).at(-1) ?? '', 'base64').toString()
}

// A longer cookie is no number, even if its digits are escaped six times.
const MAX_COOKIE = 1_000

// Returns only the values with separators: any other one is a piece of the field. The field has all runs and pieces of a long one.
function* cookieValues(label: string, field: string): Generator<LabelledValue> {
  for (const cookie of field.split(';')) {
    const value = cookie.slice(cookie.indexOf('=') + 1).trim()
    if (value.length <= MAX_COOKIE && /[^\w.-]/.test(value))
      yield [label, value.replace(/^"(.*)"$/, '$1')]
  }
}

// Match what stands between separators, but nothing that is certainly short: a value may have thousands of such parts.
const PIECES = between('\\s+?&#;,|"\'()[\\]{}<>')
const PARTS = between('=')
const INNER_PARTS = between('=:@./\\\\!-')

function between(separators: string): RegExp {
  const any = `[^${separators}]`
  const pattern = `${any}{${MIN_VALUE_LENGTH},}|${any}*[^\\0-\\x7f${separators}]${any}*`
  return new RegExp(pattern, 'g')
}

/** Returns the parts of a value with a meaning of their own: values of a nested query, items of a list. */
export function* piecesOf(value: string): Generator<string> {
  for (const piece of new Set(value.match(PIECES))) {
    if (isShort(piece)) continue
    for (const part of splitPiece(piece)) {
      if (part !== value && isPiece(part)) yield part
    }
    if (/[:@./\\!-]/.test(piece) && /\d/.test(piece)) yield* innerPiecesOf(piece)
  }
}

// Returns a piece, and what stands at its signs `=`. The part before the first one is a name, which is only searched for if it has
// a digit.
function splitPiece(piece: string): Iterable<string> {
  const equals = piece.indexOf('=')
  if (equals < 0) return [piece]
  const name = piece.slice(0, equals)
  const rest = piece.slice(equals + 1)
  return new Set([piece, /\d/.test(name) ? name : '', rest, ...(rest.match(PARTS) ?? [])])
}

// Words without a digit are parts of every URL and host name.
function* innerPiecesOf(piece: string): Generator<string> {
  for (const part of piece.match(INNER_PARTS) ?? []) {
    if (isPiece(part) && /\d/.test(part) && !YEAR.test(part)) yield part
  }
}

// A longer part is found without being a piece: each run of 8 of its folded characters is a run of the value too.
function isPiece(part: string): boolean {
  if (isShort(part)) return false
  return !isLongWhenFolded(part) || part.includes('%') || NUMERIC.test(part)
}

function labelOf(name: string, isSafe: IsSafe = isName): string {
  return isSafe(name) ? name : 'value'
}
