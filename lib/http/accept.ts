import { forgetLastMatch } from './retention.ts'

interface MediaRange {
  readonly type: string
  readonly subtype: string
  readonly q: number
}

const ALL: readonly MediaRange[] = [{ type: '*', subtype: '*', q: 1 }]

/** Maximum number of elements that are read from a header such as `Accept`. No client needs more, and each one costs time. */
export const MAX_ELEMENTS = 64

const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
// Matches a media range, its parameters and its weight (RFC 9110, section 12.5.1).
const MEDIA_RANGE = new RegExp(
  `^(${TOKEN})/(${TOKEN})(?:\\s*;\\s*(?!q=)${TOKEN}=(?:${TOKEN}|"[^"]*"))*` +
    '(?:\\s*;\\s*q=(0(?:\\.\\d{0,3})?|1(?:\\.0{0,3})?))?$',
  'i',
)

/**
 * Chooses a media type by an `Accept` header (RFC 9110, section 12.5.1). The highest weight wins, then
 * the more specific range, then the earlier range, then the earlier offer.
 *
 * @param accept The value of the header. If it is missing or has no well-formed range, it counts as `*``/``*`.
 * @param offers The available types, in order of preference.
 * @returns The chosen offer. It is the first one if none is acceptable, because an error needs a response anyway.
 */
export function negotiate<T extends string>(
  accept: string | undefined,
  offers: readonly [T, ...T[]],
): T {
  return accepted(accept, offers) ?? offers[0]
}

/** Chooses as {@link negotiate} does. Returns undefined if no offer is acceptable. */
export function accepted<T extends string>(
  accept: string | undefined,
  offers: readonly T[],
): T | undefined {
  const parsed = parseRanges(accept ?? '')
  const ranges = parsed.length > 0 ? parsed : ALL
  let best: { readonly offer: T; readonly rank: number } | undefined
  for (const offer of offers) {
    const rank = rankOf(offer.toLowerCase(), ranges)
    if (rank > (best?.rank ?? 0)) best = { offer, rank }
  }
  return best?.offer
}

function parseRanges(accept: string): MediaRange[] {
  const ranges: MediaRange[] = []
  for (const element of accept.split(',', MAX_ELEMENTS)) {
    const [, type, subtype = '', q = '1'] = MEDIA_RANGE.exec(element.trim()) ?? []
    if (type === undefined || (type === '*' && subtype !== '*')) continue
    ranges.push({ type: type.toLowerCase(), subtype: subtype.toLowerCase(), q: Number(q) })
  }
  forgetLastMatch()
  return ranges
}

// Ranks an offer by the most specific range that matches. The weight counts first, then the specificity of the
// range, then its position. The rank is 0 if no range matches, or if the weight is 0. A weight has at most three
// decimals, so two weights differ by 3 or more in the sum below, and the specificity by at most 2.
function rankOf(offer: string, ranges: readonly MediaRange[]): number {
  let rank = 0
  let mostSpecific = -1
  for (const [i, range] of ranges.entries()) {
    const specific = specificity(range, offer)
    if (specific <= mostSpecific) continue
    mostSpecific = specific
    rank = range.q && (range.q * 3_000 + specific) * MAX_ELEMENTS + (MAX_ELEMENTS - 1 - i)
  }
  return rank
}

// Returns 2 for an exact match, 1 for `type/*`, 0 for `*/*`, and -1 if the range does not match.
function specificity({ type, subtype }: MediaRange, offer: string): number {
  if (type === '*') return 0
  if (!offer.startsWith(type) || offer[type.length] !== '/') return -1
  if (subtype === '*') return 1
  return offer.endsWith(subtype) && offer.length === type.length + 1 + subtype.length ? 2 : -1
}
