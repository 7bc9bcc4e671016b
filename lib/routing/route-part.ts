import type { Route } from '../http/route.ts'
import type { Expression } from './expression.ts'
import type { Effort } from './expression-program.ts'
import type { PathText } from './path-text.ts'
import type { RouteTarget } from './route-target.ts'
import type { Pair } from './segments.ts'

/** The properties of a request, besides its path, on which a route may depend. */
export interface RouteFacts {
  readonly method: string
  readonly protocol: string
  /** The labels of the host in lower case; undefined if it is invalid. */
  readonly labels: readonly string[] | undefined
  isModule(name: string): boolean
  /** Reports whether a route leads to an action that a client can request. */
  hasAction(route: Route): boolean
}

/** The values of variables: raw segments, and host labels. */
export type Values = readonly (readonly [variable: string, segment: string])[]

/** The result of a part of a route that matches. */
export interface Found {
  readonly values: Values
  /** The raw keys and values behind a `*`. */
  readonly pairs?: readonly string[]
  /** The number of characters of the raw path that match. */
  readonly length: number
  /** The methods of a REST resource whose controller has no action for OPTIONS. */
  readonly allow?: readonly string[] | undefined
}

/** A literal, with its text as a URL has it. */
export interface Literal {
  readonly literal: string
  readonly encoded: string
}

/** A variable, with its requirement and why a path or a host does not match if it is not met. */
export interface Variable {
  readonly variable: string
  readonly requirement: Expression | undefined
  readonly miss: string
}

export type Segment = Literal | Variable

/** The part of a route that matches the path: its segments, a regular expression, or a REST resource. */
export interface PathPart {
  readonly kind: 'path' | 'regex' | 'rest'
  /** Its pattern, for a list of routes, such as `news/:id`. */
  readonly text: string
  readonly variables: ReadonlySet<string>
  /** The segments of a `path`. */
  readonly segments?: readonly Segment[]
  /** The regular expressions that run on the path. */
  readonly expressions?: readonly Expression[]
  readonly acceptsPairs?: boolean
  /** Whether a child can follow with another separator than a slash. */
  readonly endsInText?: boolean
  /**
   * Matches a path, or its start for a child with a separator.
   *
   * @returns The result, or the reason why the path does not match.
   */
  match(path: PathText, facts: RouteFacts, separator?: string): Found | string
  /** Returns the first segment of each path that matches; undefined if there are several. Only a `path` can have one. */
  first?(separator?: string): string | undefined
  /**
   * Builds a path that leads to a target, or several.
   *
   * @param pairs The pairs for the `*`.
   * @param effort The steps that the requirements of variables may take.
   * @param writesDefaults Whether default values at the end are written too, as the path of a child needs it.
   */
  build(
    target: RouteTarget,
    pairs: readonly Pair[],
    effort: Effort,
    writesDefaults: boolean,
  ): string | string[]
}
