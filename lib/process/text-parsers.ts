import type { Kind } from '../http/check-options.ts'

/** Parses a text. */
export interface TextParser<T> {
  /** Describes a valid text. */
  readonly expected: string
  /** Returns undefined if the text is invalid. */
  readonly parse: (text: string) => T | undefined
}

/** Accepts a whole number of at most 15 digits within bounds. */
export function wholeNumber(min: number, max: number): TextParser<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    parse: (text) => {
      const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return number >= min && number <= max ? number : undefined
    },
  }
}

/** Accepts a text that matches a pattern. */
export function matching(pattern: RegExp, expected: string): TextParser<string> {
  return ofKind([expected, (text) => pattern.test(text as string)])
}

/** Accepts a text that an option of this kind may have. */
export function ofKind([expected, isValid]: Kind): TextParser<string> {
  return { expected, parse: (text) => (isValid(text) ? text : undefined) }
}

/** Accepts one of several words. */
export function oneOf<T extends string>(...choices: readonly T[]): TextParser<T> {
  const quotedChoices = choices.map((choice) => `"${choice}"`)
  return {
    expected: `${quotedChoices.slice(0, -1).join(', ')} or ${quotedChoices.at(-1)}`,
    parse: (text) => choices.find((choice) => choice === text),
  }
}

/** Accepts a list with commas between its items. */
export function commaSeparated(
  isItem: (item: string) => boolean,
  expected: string,
): TextParser<readonly string[]> {
  return {
    expected,
    parse: (text) => {
      const items = text.split(',')
      return items.every(isItem) ? items : undefined
    },
  }
}
