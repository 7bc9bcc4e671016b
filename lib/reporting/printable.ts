const IS_PRINTABLE_ASCII = /^[\x20-\x7e]*$/
// Controls, format characters (bidi, zero width), line and paragraph separators, lone surrogates.
const unprintable = lazyPattern('[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]', 'gu')

/** Creates an expression when it is first needed. V8 looks up the characters of a literal with `\p` when it loads a file. */
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

/** Writes a value as one line of JSON, with the same characters escaped, unless it is as long as a limit. */
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
