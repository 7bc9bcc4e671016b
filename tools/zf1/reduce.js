/**
 * Removes every part of a list or a text that is not needed, long parts first.
 *
 * @param suffices Returns whether a shorter version is still sufficient; may be async.
 */
export async function reduce(whole, suffices) {
  let rest = whole
  for (let length = whole.length; length > 0; length >>= 1) {
    for (let start = 0; start < rest.length; ) {
      const shorter = rest.slice(0, start).concat(rest.slice(start + length))
      if (await suffices(shorter)) rest = shorter
      else start += length
    }
  }
  return rest
}
