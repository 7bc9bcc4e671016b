// The frequency of each pair of letters in words, relative to that of a random pair: its binary logarithm, from
// -4 (a) to 3 (h). One row for each first letter, one column for each second one. Counted in 9,400 English words
// and names of programs.
const PAIRS = [
  'dgggdefcfbehfhafahgheedcec',
  'fdddfdaaecafcbebaeeceaaaca',
  'gdedgdagfaffcbhcafdgebaaca',
  'fddehdccgbadccebaeebecbaca',
  'geghffecdccgfhdfdhhgdfefdb',
  'edddffaagaaebbfaaecceaaada',
  'ebcafbddeaadceebaedceaaaba',
  'faaagaaafabbccfbadcedaaaca',
  'fegffffaabcgfhhebfggbfadbe',
  'daaadaaacaaaaadaaadacaaaaa',
  'dabbfbbbeaabaccbabdccaaaba',
  'gccehccbhacgcbgcaaeeedaaga',
  'gdbcgaaagabcebffbbdbeaaaba',
  'gcgggehbgbddcefdadghedbadb',
  'eeffcdecdbdfghffahfffefccb',
  'gabcgbbefabfbbfeagefeaaaca',
  'aaaaaaaaaaaaaaaaaaaaeaaaaa',
  'hceehddbhaedeegdafgfedcaea',
  'fbfchdafgaddddffbcghfbcada',
  'gaedhccfhabeccgdaggfeacafa',
  'eeededdaeabfegbeafffaaabab',
  'fabagaaafaaaaadaaacaaaaaaa',
  'eaaaeaadeaacaddaaddaaaaaaa',
  'cacadbaadaaabaaeaabdaaabba',
  'dbbadbbadaacccceaadcbaaaba',
  'daaaeaabcaaaaabaaaaaaaaaab',
]
const NEUTRAL = 'e'.charCodeAt(0)
const FIRST = 'a'.charCodeAt(0)

/**
 * Returns how much the pairs of letters of a text resemble words: positive for most words, negative for
 * most random letters. Does not count the pair at a new word, as in `flowName`.
 */
export function letterPairScore(text: string): number {
  const lower = text.toLowerCase()
  let score = 0
  for (let i = 1; i < text.length; i++) {
    const isNewWord = text[i] !== lower[i] && text[i - 1] === lower[i - 1]
    const row = isNewWord ? undefined : PAIRS[lower.charCodeAt(i - 1) - FIRST]
    const likelihood = row?.charCodeAt(lower.charCodeAt(i) - FIRST) ?? NEUTRAL
    score += Number.isNaN(likelihood) ? 0 : likelihood - NEUTRAL
  }
  return score
}
