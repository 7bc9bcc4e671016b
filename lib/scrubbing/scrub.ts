import { type HttpRequest, stateOf } from '../http/request.ts'
import { authorityOf } from '../http/request-line.ts'
import { ClientMask, SUFFICIENT } from './client-mask.ts'
import { WINDOW } from './run-index.ts'
import { fieldsOf, SERVER_ELEMENTS, sentTextsOf, sourcesOf } from './sent-values.ts'
import { foldCost } from './text-forms.ts'
import { TextMask } from './text-mask.ts'
import { coverValues } from './value-search.ts'

/** Maximum number of characters of the texts of one error that are searched. */
export const MAX_TEXT = 12_288

// The limits of the CPU time of one error: the characters of all texts, those of their index (three for each
// character of a text without escapes), and the cost of the search, in characters of values. A text past a limit is not searched.
interface Budget {
  readonly text: number
  readonly index: number
  readonly cost: number
}

const ANY: Budget = { text: MAX_TEXT, index: 48_000, cost: 65_536 }
// A request with only a head has less time: enough for a message that quotes a target of 4 kB.
const HEAD_ONLY: Budget = { text: 9_216, index: 27_648, cost: 24_576 }
// The characters of the index for the border of a text.
const BORDERS = 3
// The cost of a character of the index, also if a short value begins there.
const INDEX_COST = 2 / 3
// Maximum characters of the only text that a client may read, and of each of several texts. The client reads 200 of each. The
// characters behind them may be the rest of a hidden value: as many as suffice to find it.
const MAX_ONLY_TEXT = 1_000
const MAX_EACH_TEXT = 200
const REST = SUFFICIENT + WINDOW
// The opened sessions of two cookies have no more characters: sealed, 3,072 become 4,096, the maximum of a cookie. A sign-in may
// hide many claims.
const MAX_HIDDEN = 6_144
const SCRIPT = /\.[cm]?[jt]sx?$/i
// Each proxy may add its name to the list. Reading and comparing thousands of names takes time.
const MAX_SERVER_TEXT = 2_048

/** Texts without the values of a request; undefined for each one that is not searched. */
export interface ScrubbedTexts {
  /** For those who operate the server. */
  readonly texts: readonly (string | undefined)[]
  /** For the client of the request: 1,000 characters at most, or 200 of each of several. */
  readonly clientTexts: readonly (string | undefined)[]
}

/**
 * Removes the values of a request from texts, see {@link sourcesOf}: as they were sent, and decoded once and more. Also finds
 * what JSON, HTML or a URL has escaped. Masks every run of eight characters that a text shares with a value, so a
 * piece of a value is found as well as the whole. Shorter values are found whole. The label is the
 * name of the parameter: `[dsh]`.
 *
 * @param clientTexts Those of the texts that the client may read: see {@link ClientMask}.
 * @returns The texts of both lists in their orders; undefined for a text that is not searched, because it, the texts together,
 * their forms or the values are too long.
 */
export function scrubTexts(
  texts: readonly string[],
  request: HttpRequest,
  clientTexts: readonly string[],
): ScrubbedTexts {
  const { text, index, cost } = budgetOf(request)
  const serverNames = serverNamesOf(request)
  const searched = searchedOf(texts, text).map((each) => each && withoutQuotes(each))
  const mask = maskOf(searched, serverNames, index)
  const maxShown = clientTexts.length > 1 ? MAX_EACH_TEXT : MAX_ONLY_TEXT
  const starts = clientTexts.map((each) =>
    withoutQuotes(each.slice(0, MAX_TEXT)).slice(0, maxShown + REST),
  )
  const searchedForClient = searchedOf(starts, text)
  const clientMask = maskOf(searchedForClient, serverNames, index)
  const client = clientMask && new ClientMask(clientMask)
  let left = cost - INDEX_COST * ((mask?.cost ?? 0) + (clientMask?.cost ?? 0))
  const masks = [mask, client].filter((each) => each !== undefined)
  if (masks.length === 0) left = -1
  const fields = left < 0 ? [] : [...fieldsOf(request)]
  if (client && left >= 0) {
    for (const sent of sentTextsOf(request, fields)) {
      left -= sent.length + foldCost(sent)
      if (left >= 0) client.send(sent)
    }
  }
  for (const [owner, values] of sourcesOf(request, fields, serverNames)) {
    if (left < 0) break
    left = coverValues(masks, owner, values, left)
  }
  const masked = left < 0 ? [] : (mask?.texts() ?? [])
  const maskedForClient = left < 0 ? [] : (client?.texts(maxShown) ?? [])
  return {
    texts: searched.map((each, i) => each && masked[i]),
    clientTexts: searchedForClient.map((each, i) => each && maskedForClient[i]),
  }
}

/** Does the same as {@link scrubTexts}, for texts that no client reads. */
export function scrubAll(
  texts: readonly string[],
  request: HttpRequest,
): readonly (string | undefined)[] {
  return scrubTexts(texts, request, []).texts
}

// The limit of all values is checked before the texts are indexed and the values are split, because that takes time too.
// Returns a budget of 0 if they are too long.
function budgetOf(request: HttpRequest): Budget {
  const { message, form = message.form, target } = stateOf(request)
  const { json, ending } = message
  // Sessions, new cookies, and the secrets of a sign-in.
  const hidden = ending?.secrets?.join('').length ?? 0
  const sent = target.length + (form?.bytes.length ?? 0) + (json?.length ?? 0) + hidden
  if (sent > ANY.cost) return { text: 0, index: 0, cost: 0 }
  const isSmall = form === undefined && json === undefined && hidden <= MAX_HIDDEN
  // To parse and unescape JSON takes time too.
  return isSmall ? HEAD_ONLY : { ...ANY, cost: ANY.cost - (json?.length ?? 0) / 2 }
}

// Returns undefined for each text that is too long, or that follows so many others.
function searchedOf(texts: readonly string[], max: number): (string | undefined)[] {
  let length = 0
  return texts.map((text) => {
    if (length + text.length > max) return undefined
    length += text.length
    return text
  })
}

// Returns undefined if there is no text, or if the forms of the texts are too long.
function maskOf(
  texts: readonly (string | undefined)[],
  serverNames: ReadonlySet<string>,
  max: number,
): TextMask | undefined {
  const all = texts.map((text) => text ?? '')
  if (all.every((text) => text === '')) return undefined
  return TextMask.of(all, serverNames, max + BORDERS * texts.length)
}

// Returns the names and ports under which clients reach the server. They are not secret.
function serverNamesOf({ headers, target }: HttpRequest): ReadonlySet<string> {
  const forwarded = String(headers.forwarded ?? '')
    .slice(0, MAX_SERVER_TEXT)
    .match(SERVER_ELEMENTS)
  const hosts = ['host', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-server']
  const fields = [...hosts.map((name) => headers[name]), authorityOf(target), ...(forwarded ?? [])]
  const text = fields.join(' ').slice(0, MAX_SERVER_TEXT)
  const names = text.match(/[\w.-]+/g)
  // A client may send any name. That of a script would show a forged frame.
  return new Set(names?.filter((name) => !SCRIPT.test(name)))
}

// In a terminal, node:assert of Node 22 and later colours two texts character by character, so no run of a value is left.
const COLOURED = /(?:\W\[3\dm.{1,2}\W\[39m){2}.*/s

// Removes what Node quotes. V8 quotes invalid JSON: it may be a parameter, or part of a body that is not searched here.
function withoutQuotes(text: string): string {
  const parts = text.replace(COLOURED, '[text]').split(/"(?:\.\.\.)? is not valid JSON/)
  const rest = parts.pop() ?? ''
  const withoutQuote = (part = ''): string =>
    `${part.replace(/\.\.\.$/, '')}[text] is not valid JSON`
  return parts.map((part) => withoutQuote(part.split('"', 1)[0])).join('') + rest
}
