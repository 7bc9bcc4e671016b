import { type HttpRequest, stateOf } from '../http/request.ts'
import { lazyPattern } from './printable.ts'
import { credentialsIn, fieldsOf, pathValues } from './sent-values.ts'

// A character of a name that is escaped, as in `%6e`, `%256e`, `\u006e` and `&#110;`.
const PERCENT = '%(?:25)*'
const BACKSLASH = `(?:\\\\|${PERCENT}5[cC])`
const escapedName = lazyPattern(
  [
    `(?:${PERCENT}|${BACKSLASH}(?:[uU]00|[xX]))(?:2[deDE]|3\\d|[46][1-9a-fA-F]|5[\\dafAF]|7[\\daA])`,
    `${BACKSLASH}(?:[uU]{|[-.\\dA-TV-WYZ_ac-eg-mo-qsvwyz])`,
    `(?:[&;]|${PERCENT}(?:26|3[bB]))${BACKSLASH}?(?:#|${PERCENT}23)`,
  ].join('|'),
  '',
)
// Bytes of a body. To look for escapes in them takes up to 2 ms, and to look for a name up to 1 ms.
const MAX_SENT = 131_072
const MAX_SENT_NAMES = 4

/**
 * Returns a function that reports whether a client may have sent a name of `[A-Za-z0-9._-]`, as it is or escaped, in any letter
 * case. It takes less time than a search, and has limits of its own.
 */
export function sentNameFinder(request: HttpRequest): (name: string) => boolean {
  let sent: string | undefined
  const known = new Map<string, boolean>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined || known.size >= MAX_SENT_NAMES) return found ?? true
    sent ??= lowerCasedTextOf(request)
    const isSent = sent === '' || sent.includes(name.toLowerCase())
    known.set(name, isSent)
    return isSent
  }
}

// Returns all that a client has sent, in lower case; '' if it is too long or may have an escaped name.
function lowerCasedTextOf(request: HttpRequest): string {
  const { message, form = message.form, target } = stateOf(request)
  const { json, ending } = message
  if ((form?.bytes.length ?? 0) + (json?.length ?? 0) > MAX_SENT) return ''
  const values = [
    ...pathValues(request, () => true),
    ...request.pairs,
    ...Array.from(fieldsOf(request), ([name, field]) => [name, field, credentialsIn(field)]),
  ]
  const text = [target, form?.text, json, ...(ending?.secrets ?? []), ...values.flat()].join('\n')
  return escapedName().test(text) ? '' : text.toLowerCase()
}
