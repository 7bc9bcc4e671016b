import { decodePercent } from '../http/params.ts'
import type { ValueOwner } from './client-mask.ts'
import { isShort, numbersIn, piecesOf } from './pieces.ts'
import { WINDOW } from './run-index.ts'
import type { LabelledValue } from './sent-values.ts'
import { fold, foldCost, unescaped } from './text-forms.ts'

// The cost of a value in addition to its characters.
const SEARCH_OVERHEAD = 48
// The cost of a value that is too short to be searched for, or that has been searched for.
const SHORT_COST = 12
// The cost of a number that code may read in a value, if it is short.
const SHORT_NUMBER_COST = 4
// A URL may contain a URL that contains a URL, and each level adds an encoding.
const MAX_DECODINGS = 6
const ESCAPES = /[%\\]/

/** Masks what texts have in common with values. */
interface Mask {
  cover(label: string, folded: string, owner: ValueOwner): void
}

/**
 * Masks the values of one owner.
 *
 * @param budget The maximum cost, in characters of values.
 * @returns The rest of the budget; less than 0 if it does not suffice.
 */
export function coverValues(
  masks: readonly Mask[],
  owner: ValueOwner,
  values: Iterable<LabelledValue>,
  budget: number,
): number {
  let left = budget
  // A hidden value costs as much again: otherwise a client could find out whether another one is the same.
  const repeats = owner !== 'client'
  // The headers of a browser have the same pieces many times.
  const covered = new Set<string>()
  const cover = (label: string, value: string): void => {
    const isKnown = covered.has(value)
    if (isKnown && !repeats) {
      // Finding it again has taken time too.
      left -= SHORT_COST
      return
    }
    covered.add(value)
    // coverUnescaped() has counted the folding of the whole value. Each piece is folded once more, which takes a third of that.
    left -= value.length + foldCost(value) / 3 + SEARCH_OVERHEAD
    for (const text of [value, ...numbersIn(value)]) {
      if (text !== value)
        left -= text.length < WINDOW ? SHORT_NUMBER_COST : SEARCH_OVERHEAD + text.length
      if (left < 0) return
      const folded = fold(text)
      // The folded value may be longer.
      left -= Math.max(0, folded.length - text.length)
      if (!isKnown) for (const mask of masks) mask.cover(label, folded, owner)
    }
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
    // To judge a long name takes as long as to search for a short value.
    left -= SHORT_COST + label.length / 2
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
