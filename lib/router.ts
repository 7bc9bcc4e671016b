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

  route({ path }: HttpRequest): Route {
    return this.routePath(path)
  }

  /** Where a path goes, such as `/news/view/id/42`. */
  routePath(routed: string): Route {
    const path = withoutOuterSlashes(routed)
    const first = segmentAt(path, 0)
    const isModule = first !== '' && this.#modules.has(this.#names.module(first))
    // An empty segment ends the names: it is left, and is the first key of the pairs.
    let at = isModule ? first.length + 1 : 0
    const controller = segmentAt(path, at)
    at = past(at, controller)
    const action = segmentAt(path, at)
    at = past(at, action)
    return {
      module: isModule ? first : 'default',
      controller: controller || 'index',
      action: action || 'index',
      pairs: path.slice(at),
    }
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

// By hand: split() and a slice of its list took a fifth of the time of a whole request.
function segmentAt(path: string, start: number): string {
  const end = path.indexOf('/', start)
  return path.slice(start, end < 0 ? path.length : end)
}

function past(at: number, segment: string): number {
  return segment === '' ? at : at + segment.length + 1
}
