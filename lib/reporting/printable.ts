// Controls, format characters (bidi, zero width), line and paragraph separators, lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Escapes characters that could forge a log line, move the cursor or reverse the text. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, toEscapes)
}

/** Writes a value as one line of JSON, with the same characters escaped. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, toEscapes)
}

function toEscapes(character: string): string {
  // Escapes UTF-16 code units: JSON has no escape for a whole character past U+FFFF.
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')
}
