import { escapeHtml } from '../http/html.ts'
import { replaceAll } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { decodings, MIN_VALUE_LENGTH, numbersIn, serverNamesOf, valuesOf } from './sent-values.ts'
import { shapeOf } from './shape.ts'
import { TextMask } from './text-mask.ts'

// Limits of the CPU time of one error: the characters of all texts, and of the values in all their
// forms. A text past a limit is not searched.
export const MAX_TEXT = 16_384
const MAX_SEARCHED = 65_536
// The cost of a value in addition to its characters.
const SEARCH_OVERHEAD = 48

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
    return withoutSnippets(text)
  })
  if (length === 0) return searched
  const mask = new TextMask(
    searched.map((text) => text ?? ''),
    serverNamesOf(request),
  )
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
  const { form, target, message } = stateOf(request)
  const bodyBytes = (form?.bytes.length ?? 0) + (message.json?.bytes ?? 0)
  // Checks the limit before the values are split, because that takes time too.
  if (target.length + bodyBytes > MAX_SEARCHED) return false
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
      for (const number of numbersIn(decoded)) {
        if (number.length >= MIN_VALUE_LENGTH) cover(label, number)
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
