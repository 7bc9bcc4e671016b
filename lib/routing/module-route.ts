import type { Route } from '../http/route.ts'
import type { NameKeys } from './name-rules.ts'

const SLASH = 0x2f

/**
 * ZF1's default route: `/module/controller/action/key/value/...`, the module only where one of the
 * name is registered, each of the three with a default. It finds a route for every path.
 */
export class ModuleRoute {
  readonly #modules: ReadonlySet<string>
  readonly #names: NameKeys

  /** @param modules The names of the registered modules. */
  constructor(modules: Iterable<string>, names: NameKeys) {
    this.#names = names
    this.#modules = new Set([...modules].map(names.module))
  }

  /** Whether a module is registered under a name. */
  isModule(name: string): boolean {
    return this.#modules.has(this.#names.module(name))
  }

  /** Where a path goes, such as `/news/view/id/42`. */
  routePath(path: string): Route {
    const end = endOf(path)
    let at = startOf(path, end)
    const first = segmentAt(path, at, end)
    const isModule = first !== '' && this.isModule(first)
    // An empty segment ends the names: it is left, and is the first key of the pairs.
    if (isModule) at += first.length + 1
    const controller = segmentAt(path, at, end)
    if (controller !== '') at += controller.length + 1
    const action = segmentAt(path, at, end)
    if (action !== '') at += action.length + 1
    return {
      module: isModule ? first : 'default',
      controller: controller || 'index',
      action: action || 'index',
      pairs: at < end ? path.slice(at, end) : '',
    }
  }
}

/** A path without the slashes at both its ends. */
export function withoutOuterSlashes(path: string): string {
  const end = endOf(path)
  return path.slice(startOf(path, end), end)
}

// Past the slashes around it. By hand: /\/+$/ takes quadratic time on a run of slashes in the middle of a path.
function endOf(path: string): number {
  let end = path.length
  while (end > 0 && path.charCodeAt(end - 1) === SLASH) end--
  return end
}

function startOf(path: string, end: number): number {
  let start = 0
  while (start < end && path.charCodeAt(start) === SLASH) start++
  return start
}

// By hand: split() and a slice of its list took a fifth of the time of a whole request.
function segmentAt(path: string, start: number, end: number): string {
  if (start >= end) return ''
  const slash = path.indexOf('/', start)
  return path.slice(start, slash < 0 || slash > end ? end : slash)
}
