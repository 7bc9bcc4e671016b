/**
 * How a requested name matches a registered one. `exact`: they are equal, so each action has one URL. `zf1`: they are equal
 * after both are folded as in ZF1.
 */
export type NameRule = 'exact' | 'zf1'

/** Converts a registered or a requested name to the key that it is looked up by. */
export interface NameKeys {
  module(name: string): string
  controller(name: string): string
  action(name: string): string
  /** Returns the usual name of a key in a URL. */
  spell(key: string): string
}

const unchanged = (name: string): string => name

/** The keys of each rule. */
export const nameKeys: Readonly<Record<NameRule, NameKeys>> = {
  exact: { module: unchanged, controller: unchanged, action: unchanged, spell: unchanged },
  zf1: {
    module: lowerCase,
    controller: (name) => camelCase(name, /[^a-z0-9.\- _]/g),
    action: (name) => camelCase(name, /[^a-z0-9.\- ]/g),
    spell: (key) => lowerCase(key.replace(/(?<!^|_)[A-Z]/g, '-$&')),
  },
}

// No application has a longer name. A longer name only becomes lower case: it keeps its separators, so it matches no action.
const MAX_FOLDED_LENGTH = 1_024

// ZF1's _formatName(): words end at '-', '.' and ' '; a controller's name has parts between '_'.
function camelCase(name: string, dropped: RegExp): string {
  const lower = lowerCase(name)
  // An error folds a name up to 42 times: one of 8,000 characters took 9 ms.
  if (lower.length > MAX_FOLDED_LENGTH) return lower
  return lower
    .replace(dropped, '')
    .replace(/(?<=^|_)([a-z])|[.\- ]+([a-z]?)/g, (_, first = '', next = '') =>
      (first + next).toUpperCase(),
    )
}

// Converts only ASCII letters, as PHP's strtolower() does: the Kelvin sign must not become a k.
function lowerCase(name: string): string {
  return name.replace(/[A-Z][ -~]*/g, (letters) => letters.toLowerCase())
}
