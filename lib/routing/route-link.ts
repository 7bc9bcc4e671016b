import { type HostPattern, OTHER_HOST } from './host-pattern.ts'
import type { PathText } from './path-text.ts'
import type { Found, PathPart, RouteFacts } from './route-part.ts'

/** Why a path does not match. */
export const OTHER_PATH = 'the path differs'

/** One route of a chain: its conditions, its part of the path, and its defaults. */
export interface RouteLink {
  readonly scheme: string | undefined
  readonly host: HostPattern | undefined
  readonly part: PathPart | undefined
  /** The text between the path of the parent and this one. */
  readonly separator: string
  /** A variable whose default is null may be missing, and then sets no pair. */
  readonly defaults: ReadonlyMap<string, string | number | null>
}

/** Returns why the scheme or the literals of the host of a link differ; undefined if they do not. */
export function originMiss(links: readonly RouteLink[], facts: RouteFacts): string | undefined {
  for (const { scheme, host } of links) {
    if (scheme !== undefined && facts.protocol !== scheme) return 'the scheme differs'
    if (host?.hasLiterals(facts.labels) === false) return OTHER_HOST
  }
  return undefined
}

/** Matches a part; a parent with 500 children is matched once. */
export function matchOnce(
  part: PathPart,
  path: PathText,
  facts: RouteFacts,
  separator: string | undefined,
): Found | string {
  if (separator !== '/') return part.match(path, facts, separator)
  return path.once(part, () => part.match(path, facts, separator))
}

/** Returns the variables of a link. */
export function variablesOf({ host, part }: RouteLink): string[] {
  return [...(host?.variables ?? []), ...(part?.variables ?? [])]
}
