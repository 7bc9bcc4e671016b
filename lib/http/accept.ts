interface Range {
  readonly type: string
  readonly subtype: string
  readonly q: number
}

// A header of more ranges is no wish, and not worth the time.
const MAX_RANGES = 64
// The highest rank of an offer with the weight 0.
const UNACCEPTABLE = 3 * MAX_RANGES

const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
// RFC 9110, section 12.5.1: a range, its parameters, and its weight.
const RANGE = new RegExp(
  `^(${TOKEN})/(${TOKEN})(?:\\s*;\\s*(?!q=)${TOKEN}=(?:${TOKEN}|"[^"]*"))*` +
    '(?:\\s*;\\s*q=(0(?:\\.\\d{0,3})?|1(?:\\.0{0,3})?))?$',
  'i',
)

/**
 * Chooses a media type by an `Accept` header (RFC 9110, section 12.5.1): the highest weight wins, then
 * the more specific range, then the one named first, then the offer made first.
 *
 * @param accept The header; missing, or without a well-formed range, it counts as `*``/``*`.
 * @param offers What there is, the preferred one first.
 * @returns The first offer where nothing is acceptable: an error is answered anyway.
 */
export function negotiate<T extends string>(
  accept: string | undefined,
  offers: readonly [T, ...T[]],
): T {
  const ranges = readRanges(accept ?? '')
  let [best] = offers
  let highest = UNACCEPTABLE
  for (const offer of offers) {
    const rank = rankOf(offer, ranges)
    if (rank > highest) {
      best = offer
      highest = rank
    }
  }
  return best
}

function readRanges(accept: string): Range[] {
  const ranges: Range[] = []
  for (const element of accept.split(',', MAX_RANGES)) {
    const [, type, subtype, q = '1'] = RANGE.exec(element.trim()) ?? []
    if (type === undefined || subtype === undefined || (type === '*' && subtype !== '*')) continue
    ranges.push({ type: type.toLowerCase(), subtype: subtype.toLowerCase(), q: Number(q) })
  }
  return ranges
}

// Of the most specific range that fits: its weight, then how specific it is, then how early it was named,
// in one number.
function rankOf(offer: string, ranges: readonly Range[]): number {
  let rank = 0
  let mostSpecific = -1
  for (const [i, range] of ranges.entries()) {
    const specific = specificity(range, offer)
    if (specific <= mostSpecific) continue
    mostSpecific = specific
    rank = range.q * 1_000 * UNACCEPTABLE + specific * MAX_RANGES + (MAX_RANGES - 1 - i)
  }
  return rank
}

// Of a range that does not fit, -1.
function specificity({ type, subtype }: Range, offer: string): number {
  if (type === '*') return 0
  if (!offer.startsWith(type) || offer[type.length] !== '/') return -1
  if (subtype === '*') return 1
  return offer.endsWith(subtype) && offer.length === type.length + 1 + subtype.length ? 2 : -1
}
