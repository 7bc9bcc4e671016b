import { decodeSegment } from '../http/params.ts'
import { type Expression, PATH_STEPS, type Span } from './expression.ts'
import type { Effort } from './expression-program.ts'

// Matches one encoded character, or text that is not encoded. A path that is not UTF-8 is not routed.
const PIECE = /%[c-f][\da-f](?:%[89ab][\da-f])*|%..|[^%]+/gi

/** Maximum characters of a path that the router remembers. */
export const MAX_REMEMBERED_LENGTH = 100

/**
 * A path without its outer slashes, or what a parent leaves of it. Each form is derived once, so that 500 routes do
 * not decode the same path 500 times.
 */
export class PathText {
  readonly raw: string
  #segments: readonly string[] | undefined
  #text: string | undefined
  #offsets: readonly number[] | undefined
  #decoded: string[] | undefined
  #results: Map<unknown, unknown> | undefined
  /** The steps that the expressions of all routes may still take for this path. */
  readonly effort: Effort

  constructor(raw: string, effort: Effort = { steps: PATH_STEPS }) {
    this.raw = raw
    this.effort = effort
  }

  /** The raw segments; none if the path is empty. */
  get segments(): readonly string[] {
    this.#segments ??= this.raw === '' ? [] : this.raw.split('/')
    return this.#segments
  }

  /** The first raw segment, without splitting the others. */
  get first(): string {
    return this.raw.split('/', 1)[0] ?? ''
  }

  /** The path, decoded as a segment is. */
  get text(): string {
    this.#text ??= decodeSegment(this.raw)
    return this.#text
  }

  /** Returns a segment, decoded. */
  decodedAt(i: number): string {
    this.#decoded ??= []
    this.#decoded[i] ??= decodeSegment(this.segments[i] ?? '')
    return this.#decoded[i]
  }

  /** Returns where a position of the decoded text is in the raw path; undefined inside of an encoded character. */
  offsetOf(position: number): number | undefined {
    if (!this.raw.includes('%')) return position
    if (position === this.text.length) return this.raw.length
    this.#offsets ??= offsetsOf(this.raw)
    return this.#offsets[position]
  }

  /** Returns a result that depends on this path and a key alone, such as that of a parent with 500 children. */
  once<T>(key: unknown, compute: () => T): T {
    this.#results ??= new Map()
    if (!this.#results.has(key)) this.#results.set(key, compute())
    return this.#results.get(key) as T
  }

  /** Returns where the path matches an expression, and where its groups are; undefined if it does not match. */
  find(expression: Expression): readonly (Span | undefined)[] | undefined {
    const run = () => expression.find(this.text, this.effort)
    return expression.isQuick(this.text) ? run() : this.once(expression, run)
  }

  /** Reports whether a segment, or a label of the host, meets a requirement, which {@link find} never runs: its flags differ. */
  meets(requirement: Expression, value: string, effort: Effort = this.effort): boolean {
    if (requirement.isQuick(value)) return requirement.test(value)
    const results = this.once(requirement, () => new Map<string, boolean>())
    const result = results.get(value) ?? requirement.test(value, effort)
    results.set(value, result)
    return result
  }

  /** Returns the rest of the path after a length and a separator; undefined if neither a separator nor the end follows. */
  after(length: number, separator: string): PathText | undefined {
    return this.once(`${length} ${separator}`, () => this.#after(length, separator))
  }

  #after(length: number, separator: string): PathText | undefined {
    const end = this.raw.startsWith(separator, length) ? length + separator.length : length
    return end > length || length === this.raw.length
      ? new PathText(this.raw.slice(end), this.effort)
      : undefined
  }
}

function offsetsOf(raw: string): number[] {
  const offsets: number[] = []
  let position = 0
  for (const { 0: piece, index } of raw.matchAll(PIECE)) {
    if (piece.startsWith('%')) {
      offsets[position] = index
      // Four bytes are a surrogate pair.
      position += piece.length === 12 ? 2 : 1
    } else for (let i = 0; i < piece.length; i++) offsets[position++] = index + i
  }
  return offsets
}
