import { decodePercent } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { authorityOf } from '../http/request-line.ts'
import { isShort, numbersIn, piecesOf } from './pieces.ts'
import { type LabelledValue, SERVER_ELEMENTS, sentTextsOf, sourcesOf } from './sent-values.ts'
import { shapeOf } from './shape.ts'
import { foldCost, phraseOf, unescaped } from './text-forms.ts'
import { TextMask, type ValueOwner } from './text-mask.ts'

/** Maximum number of characters of the texts of one error that are searched. */
export const MAX_TEXT = 16_384

// The limits of the CPU time of one error: the characters of all texts, and the cost of the search, in characters of values.
// A text past a limit is not searched.
interface Budget {
  readonly text: number
  readonly cost: number
}

const ANY: Budget = { text: MAX_TEXT, cost: 65_536 }
// A request with only a head has less time: enough for a message that quotes a target of 4 kB.
const HEAD_ONLY: Budget = { text: 9_216, cost: 24_576 }
// The characters of the index for each character of the texts and their borders: enough for texts without escapes.
const INDEXED = 3
// The cost of a character of the index, also if a short value begins there.
const INDEX_COST = 2 / 3
// The opened sessions of two cookies have no more characters: sealed, 3,072 become 4,096, the maximum of a cookie.
const MAX_SESSIONS = 6_144
// The cost of a value in addition to its characters.
const SEARCH_OVERHEAD = 48
// The cost of a value that is too short to be searched for, or that has been searched for.
const SHORT_COST = 12
const SCRIPT = /\.[cm]?[jt]sx?$/i
// Each proxy may add its name to the list. Reading and comparing thousands of names takes time.
const MAX_SERVER_TEXT = 2_048
// A URL may contain a URL that contains a URL, and each level adds an encoding.
const MAX_DECODINGS = 6

/**
 * Removes the values of a request from texts: parameters, path segments past the action, headers
 * that may hold credentials; as they were sent, and decoded once and more. Also finds what JSON, HTML or a URL
 * has escaped. Masks every run of eight characters that a text shares with a value, so a
 * piece of a value is found as well as the whole. Shorter values are found whole. The label is the
 * name of the parameter: `[dsh]`.
 *
 * @returns The texts in the same order; undefined for a text that is not searched, because it, the
 * texts together, their forms or the values are too long.
 */
export function scrubAll(texts: readonly string[], request: HttpRequest): (string | undefined)[] {
  const budget = budgetOf(request)
  if (budget === undefined) return texts.map(() => undefined)
  let length = 0
  const searched = texts.map((text) => {
    if (length + text.length > budget.text) return undefined
    length += text.length
    return withoutSnippets(text.replace(COLOURED, '[text]'))
  })
  if (length === 0) return searched
  const serverNames = serverNamesOf(request)
  const mask = TextMask.of(
    searched.map((text) => text ?? ''),
    serverNames,
    INDEXED * (budget.text + texts.length),
  )
  // Decodes the request only if the texts are short enough to be searched.
  const sent = mask ? sentTextsOf(request) : []
  const isCovered = mask && coverValues(mask, request, serverNames, budget.cost - costOf(sent))
  const masked = isCovered ? mask.texts((phrases) => findPhrases(sent, phrases)) : []
  return searched.map((text, i) => text && masked[i])
}

/** Scrubs one text, see {@link scrubAll}; a text that was not searched becomes its shape. */
export function scrub(text: string, request: HttpRequest): string {
  return scrubAll([text], request)[0] ?? `[${shapeOf(text)}]`
}

// The limit of all values is checked before the texts are indexed and the values are split, because that takes time too.
// Returns undefined if they are too long.
function budgetOf(request: HttpRequest): Budget | undefined {
  const { message, form = message.form, target } = stateOf(request)
  const { json, ending } = message
  // Sessions, new cookies, and the secrets of a sign-in.
  const hidden = ending?.secrets?.join('').length ?? 0
  const sent = target.length + (form?.bytes.length ?? 0) + (json?.length ?? 0) + hidden
  if (sent > ANY.cost) return undefined
  // A request with only a head, and at most the sessions of two cookies, has less time. A sign-in may hide many claims.
  const isSmall = form === undefined && json === undefined && hidden <= MAX_SESSIONS
  return isSmall ? HEAD_ONLY : ANY
}

// The cost of reading the words of a text, for each character; more if it is decoded.
const WORD_COST = 1 / 3
const ESCAPES = /[%\\]/

// Returns the cost of looking for words in texts. Charges it also if there is no need to look: a client must not learn that.
function costOf(texts: Iterable<string>): number {
  let cost = 0
  for (const text of texts) {
    const perCharacter = ESCAPES.test(text) ? 1 / 2 + WORD_COST : WORD_COST
    cost += text.length * perCharacter + foldCost(text) / 3
  }
  return cost
}

// Returns false if the budget does not suffice for the values.
function coverValues(
  mask: TextMask,
  request: HttpRequest,
  serverNames: ReadonlySet<string>,
  budget: number,
): boolean {
  let left = budget - INDEX_COST * mask.cost
  for (const [owner, values] of sourcesOf(request, serverNames)) {
    if (left >= 0) left = coverSource(mask, owner, values, left)
  }
  return left >= 0
}

// Returns the rest of the budget; less than 0 if it does not suffice.
function coverSource(
  mask: TextMask,
  owner: ValueOwner,
  values: Iterable<LabelledValue>,
  budget: number,
): number {
  let left = budget
  // A hidden value costs as much again: otherwise a client could find out whether another one is the same.
  const repeats = owner === 'hidden'
  // The headers of a browser have the same pieces many times.
  const covered = new Set<string>()
  const cover = (label: string, value: string): void => {
    if (!repeats && covered.has(value)) {
      // Finding it again has taken time too.
      left -= SHORT_COST
      return
    }
    covered.add(value)
    // A piece is folded once more.
    left -= value.length + foldCost(value) / 3 + SEARCH_OVERHEAD
    if (left < 0) return
    // The folded value may be longer.
    for (const text of [value, ...numbersIn(value)])
      left -= Math.max(0, mask.cover(label, text, owner) - text.length)
  }
  const coverWithPieces = (label: string, value: string): void => {
    cover(label, value)
    if (left < 0) return
    for (const piece of piecesOf(value, repeats)) {
      cover(label, piece)
      if (piece.includes('%')) cover(label, decodePercent(piece))
      if (left < 0) return
    }
  }
  // The values that have been split and unescaped. Doing so again would take more time than the budget counts.
  const done = new Set<string>()
  const coverUnescaped = (label: string, value: string): void => {
    if (done.has(value)) left -= SHORT_COST
    // JSON may contain JSON.
    for (let plain = value; left >= 0 && !done.has(plain); plain = unescaped(plain)) {
      done.add(plain)
      left -= foldCost(plain) + (ESCAPES.test(plain) ? plain.length : 0)
      if (left >= 0) coverWithPieces(label, plain)
    }
  }
  const sent = new Set<string>()
  for (const [label, value] of values) {
    left -= SHORT_COST
    if (left < 0) return left
    if (repeats) done.clear()
    else if (sent.has(value)) continue
    sent.add(value)
    for (const decoded of decodings(value)) {
      if (isShort(decoded)) break
      coverUnescaped(label, decoded)
      if (left < 0) return left
    }
  }
  return left
}

// Returns those of some phrases that texts have.
function findPhrases(texts: Iterable<string>, phrases: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>()
  for (const text of texts) {
    const all = phraseOf(text)
    for (const phrase of phrases) if (phrase !== '' && all.includes(phrase)) found.add(phrase)
  }
  return found
}

// Returns a value, and the results of decoding it repeatedly: so nested URLs are searched too.
function* decodings(value: string): Generator<string> {
  let decoded = value.toWellFormed()
  for (let i = 0; i <= MAX_DECODINGS; i++) {
    yield decoded
    const next = decodePercent(decoded)
    if (next === decoded) return
    decoded = next
  }
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

// V8 quotes invalid JSON. It may be a parameter, or part of a body that is not searched here.
function withoutSnippets(text: string): string {
  const parts = text.split(/"(?:\.\.\.)? is not valid JSON/)
  const rest = parts.pop() ?? ''
  const before = parts.map((part) => {
    const quote = part.indexOf('"')
    // An empty text is quoted as `""`.
    const start = quote < 0 ? part.length : quote
    return `${part.slice(0, start).replace(/\.\.\.$/, '')}[text] is not valid JSON`
  })
  return before.join('') + rest
}
