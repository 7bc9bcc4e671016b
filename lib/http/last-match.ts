const NOTHING = /^/

/**
 * Makes V8 forget the text that a regular expression has matched last: it may be a part of the target, which it would keep in
 * memory until the next match.
 */
export function forgetLastMatch(): void {
  NOTHING.test('')
}
