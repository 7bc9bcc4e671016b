const IS_PRINTABLE_ASCII = /^[\x20-\x7e]*$/
// Controls, format characters (bidi, zero width), line and paragraph separators, lone surrogates.
const unprintable = lazyPattern('[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]', 'gu')

/** Returns a function that creates an expression at its first call. V8 looks up the characters of a literal with `\p` when it loads a file. */
export function lazyPattern(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined
  return () => {
    pattern ??= new RegExp(source, flags)
    return pattern
  }
}

/** Escapes characters that could forge a log line, move the cursor or reverse the text. */
export function printable(text: string): string {
  return IS_PRINTABLE_ASCII.test(text) ? text : text.replace(unprintable(), toEscapes)
}

/** Returns a value as one line of JSON. Escapes the same characters if the line is shorter than a limit. */
export function jsonLine(value: unknown, limit: number = Number.POSITIVE_INFINITY): string {
  const line = JSON.stringify(value)
  return line.length < limit ? printable(line) : line
}

function toEscapes(character: string): string {
  // Escapes UTF-16 code units: JSON has no escape for a whole character past U+FFFF.
  let escapes = ''
  for (let i = 0; i < character.length; i++) {
    escapes += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  }
  return escapes
}
