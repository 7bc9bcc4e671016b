/**
 * How a requested name finds a registered one: `exact`, one URL for one action; or `zf1`, folded
 * as Zend Framework 1 folds them.
 */
export type NameRule = 'exact' | 'zf1'

/** Takes a name, registered or requested, to the key that it is looked up by. */
export interface NameKeys {
  module(name: string): string
  controller(name: string): string
  action(name: string): string
}

const same = (name: string): string => name

const exact: NameKeys = { module: same, controller: same, action: same }

const zf1: NameKeys = {
  module: lowerCase,
  controller: (name) => name.split('_').map(camelCase).join('_'),
  action: camelCase,
}

// ZF1's _formatName(): words end at '-', '.' and ' '; what is left beside letters and digits drops out.
function camelCase(name: string): string {
  return lowerCase(name)
    .replace(/[^a-z0-9.\- ]/g, '')
    .replace(/(^|[.\- ])[.\- ]*([a-z]?)/g, (_, _break, letter: string) => letter.toUpperCase())
}

// ASCII only, as PHP's strtolower(): the Kelvin sign must not become a k.
function lowerCase(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** The names of each rule. */
export const nameKeys: Readonly<Record<NameRule, NameKeys>> = { exact, zf1 }

/** The name under which a function is reached as an action: `fooBar` as `foo-bar`. */
export function actionName(functionName: string): string {
  return functionName.replace(
    /[A-Z]/g,
    (letter, at: number) => (at > 0 ? '-' : '') + letter.toLowerCase(),
  )
}
