import type { Names } from './names.ts'
import type { HttpRequest, Route } from './request.ts'

/** Finds where a request goes, by its `path`; undefined where it finds nothing. */
export interface Router {
  route(request: HttpRequest): Route | undefined
}

const SLASH = 0x2f

/**
 * ZF1's default route: `/module/controller/action/key/value/...`, the module only where one of the
 * name is registered, each of the three with a default. It finds a route for every path.
 */
export class ModuleRouter implements Router {
  readonly #modules: ReadonlySet<string>
  readonly #names: Names

  /** @param modules The names of the registered modules. */
  constructor(modules: Iterable<string>, names: Names) {
    this.#names = names
    this.#modules = new Set([...modules].map(names.module))
  }

  route(request: HttpRequest): Route {
    const path = withoutOuterSlashes(request.path)
    const segments = path.split('/', 3)
    let taken = 0
    // An empty segment ends the names: it is left, and is the first key of the pairs.
    const take = (fallback: string): string =>
      segments[taken] ? (segments[taken++] ?? '') : fallback

    const module = this.#isModule(segments[0]) ? take('default') : 'default'
    const controller = take('index')
    const action = take('index')
    return { module, controller, action, pairs: past(path, segments.slice(0, taken)) }
  }

  #isModule(segment = ''): boolean {
    return this.#modules.has(this.#names.module(segment))
  }
}

// By hand: /\/+$/ takes quadratic time on a run of slashes in the middle of a path.
function withoutOuterSlashes(path: string): string {
  let start = 0
  let end = path.length
  while (start < end && path.charCodeAt(start) === SLASH) start++
  while (end > start && path.charCodeAt(end - 1) === SLASH) end--
  return path.slice(start, end)
}

function past(path: string, segments: readonly string[]): string {
  return path.slice(segments.reduce((length, segment) => length + segment.length + 1, 0))
}
