// The frequency of each pair of letters in words, relative to that of a random pair: its binary logarithm, from
// -4 (a) to 3 (h). One row for each first letter, one column for each second one. Counted in 9,400 English words
// and names of programs.
const PAIRS =
  'dgggdefcfbehfhafahgheedcec' +
  'fdddfdaaecafcbebaeeceaaaca' +
  'gdedgdagfaffcbhcafdgebaaca' +
  'fddehdccgbadccebaeebecbaca' +
  'geghffecdccgfhdfdhhgdfefdb' +
  'edddffaagaaebbfaaecceaaada' +
  'ebcafbddeaadceebaedceaaaba' +
  'faaagaaafabbccfbadcedaaaca' +
  'fegffffaabcgfhhebfggbfadbe' +
  'daaadaaacaaaaadaaadacaaaaa' +
  'dabbfbbbeaabaccbabdccaaaba' +
  'gccehccbhacgcbgcaaeeedaaga' +
  'gdbcgaaagabcebffbbdbeaaaba' +
  'gcgggehbgbddcefdadghedbadb' +
  'eeffcdecdbdfghffahfffefccb' +
  'gabcgbbefabfbbfeagefeaaaca' +
  'aaaaaaaaaaaaaaaaaaaaeaaaaa' +
  'hceehddbhaedeegdafgfedcaea' +
  'fbfchdafgaddddffbcghfbcada' +
  'gaedhccfhabeccgdaggfeacafa' +
  'eeededdaeabfegbeafffaaabab' +
  'fabagaaafaaaaadaaacaaaaaaa' +
  'eaaaeaadeaacaddaaddaaaaaaa' +
  'cacadbaadaaabaaeaabdaaabba' +
  'dbbadbbadaacccceaadcbaaaba' +
  'daaaeaabcaaaaabaaaaaaaaaab'
const LETTERS = 26
// The code of `e`.
const NEUTRAL = 101
// The code of `a`, and how much less the code of `A` is.
const SMALL = 97
const CAPITAL = 32

// The score of two ASCII characters, by 128 times the code of the first, plus that of the second. A capital after a small
// letter begins a new word, as in `flowName`, and has none.
const SCORES = new Int8Array(128 * 128)
for (let i = 0; i < PAIRS.length; i++) {
  const second = i % LETTERS
  const at = 128 * (SMALL + (i - second) / LETTERS) + SMALL + second
  for (const less of [0, 128 * CAPITAL, 129 * CAPITAL])
    SCORES[at - less] = PAIRS.charCodeAt(i) - NEUTRAL
}

/**
 * Returns how much the pairs of letters of a text resemble words: positive for most words, negative for most random letters. The
 * text is ASCII.
 */
export function letterPairScore(text: string): number {
  let score = 0
  for (let i = 1; i < text.length; i++) {
    score += SCORES[128 * text.charCodeAt(i - 1) + text.charCodeAt(i)] as number
  }
  return score
}
