/** What is left of a list, or of a text, when every part is gone that is not needed: long ones first. */
export async function reduce(whole, suffices) {
  let rest = whole
  for (let length = whole.length; length > 0; length >>= 1) {
    for (let at = 0; at < rest.length; ) {
      const shorter = rest.slice(0, at).concat(rest.slice(at + length))
      if (await suffices(shorter)) rest = shorter
      else at += length
    }
  }
  return rest
}
