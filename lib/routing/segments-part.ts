import { decodeSegment } from '../http/params.ts'
import type { Expression } from './expression.ts'
import type { Effort } from './expression-program.ts'
import type { PathText } from './path-text.ts'
import {
  type Requirements,
  repeatedIn,
  toVariable,
  unmetError,
  variablesIn,
} from './route-checks.ts'
import { routeError } from './route-error.ts'
import { OTHER_PATH } from './route-link.ts'
import type { Found, Literal, PathPart, RouteFacts, Segment } from './route-part.ts'
import { isRouteName, type RouteTarget, valueIn, writeVariable } from './route-target.ts'
import {
  encodeSegment,
  isSegment,
  type Pair,
  splitPath,
  wholePairs,
  writePairs,
} from './segments.ts'

/** The path of a route, with the syntax of Zend_Controller_Router_Route. */
export class SegmentsPart implements PathPart {
  readonly kind = 'path'
  readonly text: string
  readonly variables: ReadonlySet<string>
  readonly acceptsPairs: boolean
  readonly #name: string
  readonly #parts: readonly Segment[]
  readonly #defaults: ReadonlyMap<string, unknown>

  constructor(
    name: string,
    path: string,
    requirements: Requirements,
    defaults: ReadonlyMap<string, unknown>,
  ) {
    const parts = splitPath(path)
    this.text = parts.join('/')
    this.acceptsPairs = parts.at(-1) === '*'
    if (this.acceptsPairs) parts.pop()
    this.#name = name
    this.#parts = parts.map((part) => toSegment(name, part, requirements))
    this.#defaults = defaults
    const variables = variablesIn(this.#parts).map(({ variable }) => variable)
    this.variables = new Set(variables)
    const repeated = repeatedIn(variables)
    if (repeated !== undefined) throw routeError(name, `has the variable "${repeated}" twice`)
  }

  get segments(): readonly Segment[] {
    return this.#parts
  }

  get expressions(): readonly Expression[] {
    return variablesIn(this.#parts).flatMap(({ requirement }) => requirement ?? [])
  }

  get endsInText(): boolean {
    const last = this.#parts.at(-1)
    return !this.acceptsPairs && last !== undefined && 'literal' in last
  }

  first(separator?: string): string | undefined {
    const [part] = this.#parts
    const isPrefix = separator !== undefined && (part === undefined || separator !== '/')
    if (part === undefined) return isPrefix || this.acceptsPairs ? undefined : ''
    if (!('literal' in part) || part.literal !== part.encoded) return undefined
    return isPrefix && this.#parts.length === 1 ? undefined : part.literal
  }

  match(path: PathText, _facts: RouteFacts, separator?: string): Found | string {
    const parts = this.#parts
    const { segments } = path
    const { length } = segments
    const mustEnd = separator === undefined
    if (mustEnd && length > parts.length && !this.acceptsPairs) return OTHER_PATH
    // The index of the literal that the path of a child follows without a slash: it is only the start of a segment. -1 for none.
    const prefixAt = mustEnd || separator === '/' ? -1 : parts.length - 1
    // Tests the requirements last: they take longer, and fail less often.
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] as Segment
      const isMatch =
        'literal' in part
          ? segments[i] === part.literal || isLiteral(part, path, i, i === prefixAt)
          : segments[i] || this.#defaults.has(part.variable)
      if (!isMatch) return OTHER_PATH
    }
    for (let i = 0; i < parts.length && i < length; i++) {
      const part = parts[i] as Segment
      if ('literal' in part || part.requirement === undefined) continue
      // Module, controller and action are never decoded.
      const value = isRouteName(part.variable) ? segments[i] : path.decodedAt(i)
      if (!path.meets(part.requirement, value ?? '')) return part.miss
    }
    return this.#found(path, prefixAt)
  }

  #found(path: PathText, prefixAt: number): Found {
    const { segments } = path
    const values: [string, string][] = []
    const count = this.#parts.length
    for (let i = 0; i < count && i < segments.length; i++) {
      const part = this.#parts[i] as Segment
      const segment = segments[i] ?? ''
      if ('variable' in part && segment !== '') values.push([part.variable, segment])
    }
    const pairs = this.acceptsPairs ? wholePairs(segments.slice(count)) : []
    return { values, pairs, length: this.#lengthIn(path, prefixAt) }
  }

  // Returns the length without final slashes, as ZF1 does.
  #lengthIn({ raw, segments }: PathText, prefixAt: number): number {
    const count = this.#parts.length
    if (this.acceptsPairs || (segments.length <= count && prefixAt < 0)) return raw.length
    const matched = segments.slice(0, count)
    const last = this.#parts[prefixAt]
    if (last !== undefined && 'literal' in last) matched[prefixAt] = last.encoded
    while (matched.at(-1) === '') matched.pop()
    return matched.join('/').length
  }

  build(
    target: RouteTarget,
    pairs: readonly Pair[],
    effort: Effort,
    writesDefaults: boolean,
  ): string {
    const segments = this.acceptsPairs ? writePairs(pairs) : []
    for (const part of this.#parts.toReversed()) {
      // A path omits default values at its end.
      if (!writesDefaults && segments.length === 0 && this.#isDefault(part, target)) continue
      segments.unshift(this.#write(part, target, effort))
    }
    return segments.join('/')
  }

  #isDefault(part: Segment, target: RouteTarget): boolean {
    if ('literal' in part || !this.#defaults.has(part.variable)) return false
    const value = this.#defaults.get(part.variable) ?? undefined
    return valueIn(part.variable, target) === (value === undefined ? value : String(value))
  }

  #write(part: Segment, target: RouteTarget, effort: Effort): string {
    if ('literal' in part) return part.encoded
    const { variable, requirement } = part
    const segment = writeVariable(this.#name, variable, target)
    const value = isRouteName(variable) ? segment : decodeSegment(segment)
    if (requirement && !requirement.test(value, effort)) throw unmetError(this.#name, variable)
    return segment
  }
}

function isLiteral(
  { literal, encoded }: Literal,
  path: PathText,
  i: number,
  isPrefix: boolean,
): boolean {
  const segment = path.segments[i]
  if (segment === undefined) return false
  if (isPrefix) return segment.startsWith(encoded)
  // One URL for one action: an encoded form matches only a literal that needs encoding.
  return literal !== encoded && path.decodedAt(i) === literal
}

function toSegment(name: string, part: string, requirements: Requirements): Segment {
  return part.startsWith(':') && !part.startsWith('::')
    ? toVariable(name, part, requirements)
    : toLiteral(name, part)
}

function toLiteral(name: string, part: string): Literal {
  const literal = part.startsWith('::') ? part.slice(1) : part
  if (literal === '' || literal === '*' || /[%?#\\]/.test(literal)) {
    throw routeError(name, `has an invalid path segment "${part}"`)
  }
  const encoded = isSegment(literal) ? literal : encodeSegment(literal, `the segment "${literal}"`)
  return { literal, encoded }
}
