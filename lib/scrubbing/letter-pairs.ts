// The frequency of each pair of letters in words, relative to that of a random pair: its binary logarithm, from
// -4 to 3. One row for each first letter. A character of a row has the frequencies of two second letters, each increased by 4:
// its code is 48 more than 8 times the first, plus the other one. Counted in 9,400 English words and names of programs.
const PAIRS =
  'NfLZYW_57gTJR' +
  '[K[0R5AQ4RP0@' +
  'cSc6X]Aj5NQ0@' +
  '[LkBa3BQ4QR8@' +
  'dg]RJF_MOnMUI' +
  'SK]0`49X4BP0H' +
  'Q@YKP3DQ4JP08' +
  'X0`0X9BY3DH0@' +
  '\\e]X1F_l=f=3<' +
  'H0H0@00H0H@00' +
  'H9Y9P12A1J@08' +
  'bDjAhFAb0TS0`' +
  'c:`0`:Q]9IP08' +
  'bfdiaKD[3gS8I' +
  'T]CRIMg]7]\\ZA' +
  '`:a<X=9\\6UP0@' +
  '0000000000P00' +
  'jTkIhSTc5eS@P' +
  'YZk5`KK]:gY@H' +
  '`SjEh<Bc6eP@X' +
  'TSSHP=V<5]011' +
  'X8`0X00H0@000' +
  'P0P3P23H3H000' +
  '@@I0H0840;018' +
  'I8I8H2BD0J808' +
  'H0P1@00800001'
const LETTERS = 26
// The code of `a`, and how much less the code of `A` is.
const SMALL = 97
const CAPITAL = 32

// The score of two ASCII characters, by 128 times the code of the first, plus that of the second. A capital after a small
// letter begins a new word, as in `flowName`, and has none.
const SCORES = new Int8Array(128 * 128)
for (let i = 0; i < LETTERS * LETTERS; i++) {
  const second = i % LETTERS
  const at = 128 * (SMALL + (i - second) / LETTERS) + SMALL + second
  const both = PAIRS.charCodeAt(i >> 1) - 48
  const frequency = i % 2 === 0 ? both >> 3 : both & 7
  for (const less of [0, 128 * CAPITAL, 129 * CAPITAL]) SCORES[at - less] = frequency - 4
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
