interface Range {
  readonly type: string
  readonly subtype: string
  readonly q: number
}

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
  if (ranges.length === 0) return offers[0]
  const ranked = offers.map((offer) => ({ offer, rank: rankOf(offer, ranges) }))
  const best = ranked.reduce((one, other) => (compare(other.rank, one.rank) > 0 ? other : one))
  return (best.rank[0] ?? 0) > 0 ? best.offer : offers[0]
}

function readRanges(accept: string): Range[] {
  // A header of thousands of ranges is no wish, and not worth the time.
  return accept.split(',', 64).flatMap((element) => {
    const [, type, subtype, q = '1'] = RANGE.exec(element.trim()) ?? []
    if (type === undefined || subtype === undefined || (type === '*' && subtype !== '*')) return []
    return [{ type: type.toLowerCase(), subtype: subtype.toLowerCase(), q: Number(q) }]
  })
}

// Of the most specific range that fits: its weight, how specific it is, how early it was named.
function rankOf(offer: string, ranges: readonly Range[]): readonly number[] {
  const [type, subtype] = offer.split('/')
  return ranges
    .map((range, i) => {
      if (range.type === type && range.subtype === subtype) return [range.q, 2, -i]
      if (range.type === type && range.subtype === '*') return [range.q, 1, -i]
      return range.type === '*' ? [range.q, 0, -i] : []
    })
    .filter((rank) => rank.length > 0)
    .reduce((one, other) => ((other[1] ?? 0) > (one[1] ?? 0) ? other : one), [0, -1, 0])
}

function compare(one: readonly number[], other: readonly number[]): number {
  const different = one.findIndex((value, i) => value !== other[i])
  return different < 0 ? 0 : (one[different] ?? 0) - (other[different] ?? 0)
}
