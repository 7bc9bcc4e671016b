// Controls, format characters (bidi overrides, zero widths), line and paragraph separators, lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const PLAIN = /^[\x20-\x7e]*$/

/** Text with nothing in it that could forge a line, move the cursor or turn the reading order. */
export function printable(text: string): string {
  // Most text is; and to see that takes a tenth of the time.
  return PLAIN.test(text) ? text : text.replace(UNPRINTABLE, escaped)
}

/** A value as one line of JSON, in which no such character stands unescaped either. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, escaped)
}

function escaped(character: string): string {
  // By UTF-16 units: JSON has no escape for a character beyond them.
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')
}
