import { decodePercent, parsePairs } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { splitTarget } from '../http/request-line.ts'
import type { ValueOwner } from './client-mask.ts'
import { paramNameRule } from './sent-params.ts'
import { isName } from './shape.ts'
import { unescaped } from './text-forms.ts'

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

type IsSafe = (name: string) => boolean

/** A header, or one of several with its name. */
export type Field = readonly [name: string, field: string]

/** A value of a request, and the label that replaces it in a text. */
export type LabelledValue = readonly [label: string, value: string]

/**
 * Returns the values of a request, and whose they are, as they were sent or decoded once; a value may occur repeatedly. A client
 * may be unable to read the hidden ones: headers of a proxy, `HttpOnly` cookies, sealed sessions.
 *
 * @param fields The result of {@link fieldsOf}.
 */
export function* sourcesOf(
  request: HttpRequest,
  fields: readonly Field[],
  serverNames: ReadonlySet<string>,
): Generator<readonly [ValueOwner, Iterable<LabelledValue>]> {
  const { route, firstRoute, message } = stateOf(request)
  yield ['client', clientValues(request, fields)]
  for (const [name, field] of fields) {
    if (!isHarmless(name, field))
      yield ['hidden', headerValues(name, withoutOwnNames(field, serverNames, request))]
  }
  // A forward may have taken the values from anywhere.
  if (route !== firstRoute) yield ['hidden', pairValues(request.pairs, paramNameRule(request))]
  for (const each of message.ending?.secrets ?? [])
    yield ['hidden', jsonValues('secret', JSON.parse(each))]
}

/** Returns all that a client has certainly sent, as it was sent and decoded once: also names, and headers that are not searched for. */
export function sentTextsOf(request: HttpRequest, fields: readonly Field[]): ReadonlySet<string> {
  const { message, form = message.form, target } = stateOf(request)
  const json = new TextDecoder().decode(message.json)
  const texts = [json, unescaped(json)]
  for (const text of [target, form?.text ?? '']) texts.push(text, decodePercent(text))
  for (const [name, field] of fields) {
    texts.push(name)
    if (isHarmless(name, field)) texts.push(field, unescaped(decodePercent(field)))
  }
  return new Set(texts)
}

function* clientValues(request: HttpRequest, fields: readonly Field[]): Generator<LabelledValue> {
  const { message, form = message.form } = stateOf(request)
  const { path, search } = splitTarget(request.target)
  // The absolute form may contain a user and a password.
  if (!path.startsWith('/')) yield ['origin', path]
  const isSafe = paramNameRule(request)
  yield* pathValues(request, isSafe)
  yield* fieldValues(search, isSafe)
  yield* fieldValues(form?.text ?? '', isSafe)
  const { json } = message
  if (json !== undefined) yield* jsonValues('json', JSON.parse(new TextDecoder().decode(json)))
  for (const [name] of fields) if (!isName(name)) yield ['name', name]
}

/** Returns the path as it was sent, without the base path. Before the rewrite, there is only the target. */
export function sentPathOf({ path, target }: HttpRequest): string {
  return path || splitTarget(target).path
}

/** Returns the headers as they were sent, and those that code has added. Code may also have removed one. */
export function* fieldsOf(request: HttpRequest): Generator<Field> {
  const { sentFields } = stateOf(request).message
  const sent = new Set<string>()
  for (const fields of [sentFields, Object.entries(request.headers)]) {
    const known = new Set(sent)
    for (const [name, value] of fields) {
      for (const field of typeof value === 'string' ? [value] : [value ?? []].flat()) {
        const key = `${name}:${field}`
        if (!known.has(key)) yield [name, String(field)]
        sent.add(key)
      }
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
  const { route, firstRoute, settings } = stateOf(request)
  const first = route === firstRoute ? request.pairs : (firstRoute?.pairs ?? '')
  const pairs = typeof first === 'string' ? parsePairs(first) : first
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
  yield* pairValues(pairs, (name) => keys.has(name))
}

function* pairValues(pairs: URLSearchParams, isSafe: IsSafe): Generator<LabelledValue> {
  for (const [name, value] of pairs) yield [labelOf(name, isSafe), value]
}

// Returns the texts and the numbers of a JSON body by their names, and the names that do not look like names.
function* jsonValues(name: string, json: unknown): Generator<LabelledValue> {
  const left: [name: string, value: unknown, label?: string][] = [[name, json]]
  // To judge a name takes 3 µs. From the thousandth on, the names are searched for.
  const labels = new Map<string, string>()
  const toLabel = (name: string): string => {
    const known = labels.get(name)
    if (known !== undefined || labels.size >= MAX_NAMES) return known ?? 'value'
    const label = labelOf(name, isName)
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
    const sent = equals < 0 ? field : field.slice(0, equals)
    const name = decodePercent(sent)
    const label = labelOf(name, isSafe)
    // A field without a name may be a token.
    if (label !== name) yield ['name', sent]
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

// All headers have one label, so that it does not tell which of them have the same value.
function* headerValues(name: string, field: string): Generator<LabelledValue> {
  const label = 'header'
  yield [label, name === 'forwarded' ? field.replace(SERVER_ELEMENTS, '') : field]
  if (name.endsWith('cookie')) yield* cookieValues(label, field)
  if (!name.endsWith('authorization')) return
  const credentials = credentialsIn(field)
  const [user = ''] = credentials.split(':', 1)
  for (const each of [credentials, user, credentials.replace(/^[^:]*:/, '')]) yield [label, each]
}

/** Returns Basic credentials, a user and a password in base64, as a text; '' if a field has another scheme. */
export function credentialsIn(field: string): string {
  return Buffer.from(/^\s*(?:basic\s+)?(\S+)\s*$/i.exec(field)?.[1] ?? '', 'base64').toString()
}

// A longer cookie is no number, even if its digits are escaped six times.
const MAX_COOKIE = 1_000

// Returns only the values with separators, because any other one is a piece of the field. A long one has all its runs and pieces there.
function* cookieValues(label: string, field: string): Generator<LabelledValue> {
  for (const cookie of field.split(';')) {
    const value = cookie.slice(cookie.indexOf('=') + 1).trim()
    if (value.length <= MAX_COOKIE && /[^\w.-]/.test(value))
      yield [label, value.replace(/^"(.*)"$/, '$1')]
  }
}

function labelOf(name: string, isSafe: IsSafe): string {
  return isSafe(name) ? name : 'value'
}
