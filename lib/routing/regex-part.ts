import { type Expression, type Span, sharedExpression } from './expression.ts'
import type { PathText } from './path-text.ts'
import { checkedVariable, repeatedIn } from './route-checks.ts'
import { routeError } from './route-error.ts'
import type { Found, PathPart, RouteFacts } from './route-part.ts'
import { isRouteName, type RouteTarget, valueIn, writeVariable } from './route-target.ts'

/** The members of a route with a regular expression. */
export interface RegexMembers {
  readonly regex: string | RegExp
  readonly map?: Readonly<Record<string, string | number>> | undefined
  readonly reverse?: string | undefined
}

// A piece of `reverse`: text, or a placeholder for the value of a group.
type Piece = string | { readonly group: number; readonly isNumber: boolean }

const NO_REGEX = 'has a "regex" that is not a regular expression'
// Matches the start of a group that captures, with its name. The first two alternatives skip what only looks like one.
const GROUP = /\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?)|\(\?<(?![=!])([^>]*)>/gs
// Captures what PHP and JavaScript read in different ways. The first alternative skips the escapes that they have in common.
const FOREIGN = /\\(?:[^a-z]|[bBdDfnrsStvwWxk])|(\\.|\[\^?\]|\[:)/gi
const OTHER_PATH = 'the regex does not match'
const FORMAT = /%(?:([1-9]\d?)\$)?([sd])/

/** A regular expression that matches the decoded path, as in Zend_Controller_Router_Route_Regex. */
export class RegexPart implements PathPart {
  readonly kind = 'regex'
  readonly endsInText = true
  readonly text: string
  readonly variables: ReadonlySet<string>
  readonly #name: string
  readonly #whole: Expression
  readonly #start: Expression
  // The variable of each group.
  readonly #groups: readonly string[]
  readonly #reverse: readonly Piece[] | undefined

  constructor(name: string, { regex, map = {}, reverse }: RegexMembers) {
    this.#name = name
    const { source, flags } = checkedRegex(name, regex)
    this.text = source
    this.#groups = groupNames(name, source, map)
    this.variables = new Set(this.#groups)
    try {
      this.#whole = sharedExpression(`^(?:${source})$`, `${flags}d`)
      this.#start = sharedExpression(`^(?:${source})`, `${flags}d`)
    } catch (cause) {
      throw routeError(name, NO_REGEX, { cause })
    }
    this.#reverse = reverse === undefined ? undefined : piecesIn(name, reverse, this.#groups.length)
  }

  get expressions(): readonly Expression[] {
    return [this.#whole]
  }

  /** Returns the variable of a group, such as `year` for `1`; any other key is returned unchanged. */
  variableOf(key: string): string {
    return (/^[1-9]\d*$/.test(key) ? this.#groups[Number(key) - 1] : undefined) ?? key
  }

  match(path: PathText, _facts: RouteFacts, separator?: string): Found | string {
    const spans = path.find(separator === undefined ? this.#whole : this.#start)
    if (spans === undefined) return OTHER_PATH
    const length = path.offsetOf(spans[0]?.[1] ?? 0)
    if (length === undefined) return 'the regex ends inside of an encoded character'
    const values: [string, string][] = []
    for (const [i, variable] of this.#groups.entries()) {
      const span = spans[i + 1]
      if (span === undefined) continue
      const value = path.text.slice(...span)
      if (!isRouteName(variable)) {
        values.push([variable, encodeURIComponent(value.toWellFormed())])
      } else if (value !== '') {
        // A proxy whose rule is for /admin must not be bypassed by /%61dmin.
        if (!isRaw(path, value, span)) return `the ${variable} is encoded`
        values.push([variable, value])
      }
    }
    return { values, length }
  }

  build(target: RouteTarget): string {
    if (this.#reverse === undefined) {
      throw routeError(this.#name, 'makes no URL, because it has no "reverse"')
    }
    const pieces = this.#reverse.map((piece) => {
      if (typeof piece === 'string') return piece
      const variable = this.#groups[piece.group - 1] as string
      if (piece.isNumber && !/^(?:0|-?[1-9]\d*)$/.test(valueIn(variable, target) ?? '0')) {
        throw routeError(this.#name, `needs a whole number as "${variable}"`)
      }
      return writeVariable(this.#name, variable, target, true)
    })
    return pieces.join('')
  }
}

function isRaw(path: PathText, value: string, [start, end]: Span): boolean {
  return path.raw.slice(path.offsetOf(start), path.offsetOf(end)) === value
}

function checkedRegex(name: string, regex: unknown): { source: string; flags: string } {
  if (regex instanceof RegExp) {
    return { source: regex.source, flags: regex.flags.replace(/[^iu]/g, '') }
  }
  if (typeof regex !== 'string') {
    throw routeError(name, NO_REGEX)
  }
  for (const [, foreign] of regex.matchAll(FOREIGN)) {
    if (foreign !== undefined) {
      throw routeError(name, `has a "regex" with "${foreign}", which JavaScript does not know`)
    }
  }
  return { source: regex, flags: 'i' }
}

// Returns the variable of each group: by the map, by the name of the group, or its number.
function groupNames(name: string, source: string, map: object): string[] {
  const groups = [...source.matchAll(GROUP)].filter(([text]) => text.startsWith('('))
  const variables = groups.map(([, variable], i) => variable ?? String(i + 1))
  const mapped = Object.entries(map).map(([key, value]): [string, unknown] =>
    /^\d+$/.test(key) ? [key, value] : [String(value), key],
  )
  for (const [group, variable] of mapped) {
    if (typeof variable !== 'string') {
      throw routeError(name, `has a "map" with an invalid name for the group ${group}`)
    }
    if (!/^[1-9]\d*$/.test(group) || Number(group) > groups.length) {
      throw routeError(name, `has a "map" with the group "${group}", but "regex" has no such group`)
    }
    variables[Number(group) - 1] = variable
  }
  for (const variable of variables) checkedVariable(name, variable)
  const repeated = repeatedIn(variables) ?? repeatedIn(mapped.map(([group]) => group))
  if (repeated !== undefined) throw routeError(name, `has "${repeated}" twice in its "map"`)
  return variables
}

function piecesIn(name: string, reverse: unknown, groups: number): Piece[] {
  if (typeof reverse !== 'string') throw routeError(name, 'has a "reverse" that is not text')
  // The parts are, in turn: text, number or undefined, type.
  const parts = reverse.replace(/^\/+/, '').split(FORMAT)
  const pieces: Piece[] = []
  let next = 1
  for (let i = 0; i < parts.length; i += 3) {
    pieces.push(literalOf(name, parts[i] ?? ''))
    if (i + 2 >= parts.length) break
    const isNumber = parts[i + 2] === 'd'
    pieces.push({ group: Number(parts[i + 1] ?? next), isNumber })
    if (parts[i + 1] === undefined) next++
  }
  const places = new Set(pieces.flatMap((each) => (typeof each === 'string' ? [] : [each.group])))
  if (places.size !== groups || Math.max(0, ...places) !== groups) {
    throw routeError(
      name,
      `has a "reverse" with other places than the ${groups} groups of its "regex"`,
    )
  }
  return pieces
}

function literalOf(name: string, text: string): string {
  if (/[%?#\\\0-\x1f\x7f-\x9f\ud800-\udfff]/u.test(text)) {
    throw routeError(name, 'has an invalid "reverse": expected text and "%s", "%d" or "%1$s"')
  }
  return text.replace(/[^\w.~!$&'()*+,;=:@/-]+/g, encodeURIComponent)
}
