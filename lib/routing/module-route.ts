import type { Route } from '../http/route.ts'
import type { NameKeys } from './name-rules.ts'
import { trimSlashes } from './segments.ts'

/** A route that the built-in router found by a path. */
export interface PathRoute extends Route {
  /** The key/value pairs as a raw path, such as `id/42`. */
  readonly pairs: string
}

/**
 * ZF1's default route, `/module/controller/action/key/value/...`. The first segment is the module only
 * if one of that name is registered. Each name has a default, so every path has a route.
 */
export class ModuleRoute {
  readonly #modules: ReadonlySet<string>
  readonly #names: NameKeys

  /** @param modules The names of the registered modules. */
  constructor(modules: Iterable<string>, names: NameKeys) {
    this.#names = names
    this.#modules = new Set([...modules].map(names.module))
  }

  /** Reports whether a module is registered under a name. */
  isModule(name: string): boolean {
    return this.#modules.has(this.#names.module(name))
  }

  /** Finds the route of a path, such as `/news/view/id/42`. */
  routePath(path: string): PathRoute {
    const trimmed = trimSlashes(path)
    const first = segmentAt(trimmed, 0)
    const hasModule = first !== '' && this.isModule(first)
    let start = hasModule ? first.length + 1 : 0
    // An empty segment ends the names. It is not skipped: it is the first key of the pairs.
    const controller = segmentAt(trimmed, start)
    if (controller !== '') start += controller.length + 1
    const action = segmentAt(trimmed, start)
    if (action !== '') start += action.length + 1
    return {
      module: hasModule ? first : 'default',
      controller: controller || 'index',
      action: action || 'index',
      pairs: trimmed.slice(start),
    }
  }
}

// Splits by hand: split() and a slice of the array took 20 % of the time of a request.
function segmentAt(path: string, start: number): string {
  const end = path.indexOf('/', start)
  return end < 0 ? path.slice(start) : path.slice(start, end)
}
