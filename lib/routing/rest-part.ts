import { STANDARD_METHODS } from '../http/request-line.ts'
import type { PathText } from './path-text.ts'
import { routeError } from './route-error.ts'
import type { Found, PathPart, RouteFacts } from './route-part.ts'
import { type RouteNames, type RouteTarget, routeNames, writeName } from './route-target.ts'
import { type Pair, wholePairs, writePairs, writeValue } from './segments.ts'

// The actions with a URL of their own. The method chooses all others.
const PAGES: readonly string[] = ['new', 'edit']

/** REST resources, as in Zend_Rest_Route: the method chooses the action. */
export class RestPart implements PathPart {
  readonly kind = 'rest'
  readonly variables: ReadonlySet<string> = new Set(routeNames)
  readonly acceptsPairs = true
  // The controllers of each module; undefined for all.
  readonly #resources: ReadonlyMap<string, readonly string[] | undefined> | undefined
  readonly #module: string
  readonly #controller: string

  constructor(name: string, rest: unknown, defaults: ReadonlyMap<string, unknown>) {
    this.#resources = rest === true ? undefined : resourcesOf(name, rest)
    this.#module = String(defaults.get('module') ?? 'default')
    this.#controller = String(defaults.get('controller') ?? 'index')
  }

  /** The target of the root. */
  get names(): readonly [string, string][] {
    return [
      ['module', this.#module],
      ['controller', this.#controller],
      ['action', 'index'],
    ]
  }

  /** Such as `news|admin/report`; `:controller` stands for all. */
  get text(): string {
    if (this.#resources === undefined) return '[:module/]:controller'
    const texts = [...this.#resources].flatMap(([module, controllers = [':controller']]) =>
      controllers.map((each) => (module === 'default' ? each : `${module}/${each}`)),
    )
    return texts.join('|')
  }

  /** The modules that it names. */
  get modules(): readonly string[] {
    return [...(this.#resources?.keys() ?? [])]
  }

  match(path: PathText, facts: RouteFacts): Found | string {
    const { segments, raw } = path
    const { length } = raw
    // As in ZF1, the root is not a resource.
    if (length === 0) return { values: [], length }
    const [first = ''] = segments
    const hasModule = facts.isModule(first)
    const module = hasModule ? first : this.#module
    const below = hasModule ? segments.slice(1) : segments
    const [named = ''] = below
    const controller = named || this.#controller
    if (!this.#covers(module, controller)) return 'the controller is not one of its resources'
    const rest = below.slice(named === '' ? 0 : 1)
    const { id, page, pairs } = resourceIn(rest)
    const to = (method: string): RouteNames => ({
      module,
      controller,
      action: actionFor(method, page, rest.length),
    })
    const has = (method: string): boolean => facts.hasAction(to(method))
    let { method } = facts
    if (method === 'HEAD' && !has('HEAD')) method = 'GET'
    return {
      values: [...Object.entries(to(method)), ...(id === undefined ? [] : [['id', id] as const])],
      pairs,
      length,
      allow: method === 'OPTIONS' && !has('OPTIONS') ? allowedMethods(has) : undefined,
    }
  }

  #covers(module: string, controller: string): boolean {
    if (this.#resources === undefined) return true
    if (!this.#resources.has(module)) return false
    return this.#resources.get(module)?.includes(controller) ?? true
  }

  build(target: RouteTarget, pairs: readonly Pair[]): string[] {
    const module = writeName(target, 'module')
    const rest = tailOf(target.action, pairs)
    const short = [writeName(target, 'controller'), ...rest]
    const whole = [module, ...short]
    if (rest.length === 0 && target.controller === this.#controller) short.pop()
    return [module === this.#module ? short : [module, ...short], whole].map((each) =>
      each.join('/'),
    )
  }
}

/** Reports whether a found action may be that of a target: a URL names only the actions `new` and `edit`. */
export function isSameResource(action: string, found: string): boolean {
  return PAGES.includes(action) ? found === action : found === 'index' || found === 'get'
}

function resourcesOf(
  name: string,
  rest: unknown,
): ReadonlyMap<string, readonly string[] | undefined> {
  const entries: [string, unknown][] = Array.isArray(rest)
    ? rest.map((module) => [module, undefined])
    : Object.entries(Object(rest))
  const isList = (value: unknown): boolean =>
    value === undefined || (Array.isArray(value) && value.every((each) => typeof each === 'string'))
  const isValid = entries.every(([key, value]) => typeof key === 'string' && isList(value))
  if (entries.length === 0 || !isValid) {
    throw routeError(
      name,
      'has an invalid "rest": expected true, a list of modules, or lists of controllers by module',
    )
  }
  return new Map(entries as [string, readonly string[] | undefined][])
}

// Returns the methods of a resource without an action for OPTIONS; undefined if it has no action.
function allowedMethods(has: (method: string) => boolean): readonly string[] | undefined {
  const allow = STANDARD_METHODS.filter(has)
  if (allow.includes('GET') && !allow.includes('HEAD')) allow.splice(1, 0, 'HEAD')
  return allow.length > 0 ? [...allow, 'OPTIONS'] : undefined
}

// Returns the id or the page of a resource, and the pairs; all are raw.
function resourceIn(rest: readonly string[]): { id?: string; page?: string; pairs: string[] } {
  const [first = '', second] = rest
  if (first === 'index' || first === 'new') return { page: first, pairs: wholePairs(rest.slice(1)) }
  if (rest.length === 2 && second === 'edit' && first !== '') {
    return { id: first, page: second, pairs: [] }
  }
  if (rest.length === 1) return { id: first, pairs: [] }
  return rest.length === 0 ? { page: 'index', pairs: [] } : { pairs: wholePairs(rest) }
}

function actionFor(method: string, page: string | undefined, count: number): string {
  if (method === 'GET') return page ?? 'get'
  if (method === 'POST') return count > 0 ? 'put' : 'post'
  return method.toLowerCase()
}

function tailOf(action: string, pairs: readonly Pair[]): string[] {
  const [first] = pairs
  const isId = pairs.length === 1 && first?.key === 'id' && first.value !== ''
  if (isId && action !== 'new') return [writeValue(first), ...(action === 'edit' ? ['edit'] : [])]
  if (PAGES.includes(action)) return [action, ...writePairs(pairs)]
  const hasId = pairs.some(({ key }) => key === 'id')
  return pairs.length === 0 ? [] : [...(hasId ? [] : ['index']), ...writePairs(pairs)]
}
