import {
  type Action,
  builtInClassOf,
  type Controller,
  functionsOf,
  type LimitOverrides,
} from '../controllers/controller.ts'
import { checkedMethods } from '../controllers/methods.ts'
import { Checks, definedLimits, isObject } from '../http/check-options.ts'
import { NoActionError } from '../http/errors.ts'
import type { HttpRequest } from '../http/request.ts'
import { fullName, kebabCase } from '../http/route.ts'
import type { NameKeys } from '../routing/name-rules.ts'
import { CALL, hooksOf, isReservedForHook, withHooks } from './controller-hooks.ts'

/** An action with the names that it is registered under. */
export interface RegisteredAction {
  readonly module: string
  readonly controller: string
  readonly action: string
  /** Such as `news/list`, `admin/report/daily`. */
  readonly name: string
  /** The controller object that has the action as a property. */
  readonly owner: Controller
  /** Calls the action, with the hooks of the controller around it. */
  readonly run: Action
  readonly hasHooks: boolean
  /** The methods that it accepts; undefined for all. */
  readonly methods: readonly string[] | undefined
  /** The limits that differ from those of the front controller. */
  readonly limits: Partial<LimitOverrides> | undefined
  /** Whether it belongs to the error controller, which no client can request. */
  readonly isHidden: boolean
}

/** The actions of a controller by their keys. */
export interface RegisteredController {
  readonly module: string
  readonly controller: string
  readonly actions: ReadonlyMap<string, RegisteredAction>
  /** The action `__call`, for names that the controller does not have. */
  readonly call: RegisteredAction | undefined
  /** Runs the hooks for a name that the controller does not have, and then throws: a guard guards that name too. */
  readonly missing: RegisteredAction | undefined
}

/**
 * Registers the functions of a controller.
 *
 * @throws {TypeError | RangeError} If no URL can name an action, two actions have one key, or its methods or limits are invalid.
 */
export function registerController(
  names: Pick<RegisteredAction, 'module' | 'controller' | 'owner' | 'isHidden'>,
  { action: toKey }: NameKeys,
): RegisteredController {
  const { module, controller, owner } = names
  checkOwner(owner, controller)
  const functions = functionsOf(owner)
  const checks = new Checks()
  const hooks = checks.run(() => hooksOf(owner, functions, controller))
  const registered = (action: string, run: Action): RegisteredAction => {
    const name = fullName({ module, controller, action })
    const methods = checks.run(() => methodsOf(run, name))
    const limits = checks.run(() => limitsOf(run, name))
    const called = hooks ? withHooks(hooks, run) : run
    return { ...names, action, name, methods, limits, hasHooks: called !== run, run: called }
  }
  const actions = new Map<string, RegisteredAction>()
  const actionNames = new Map<string, string>()
  const owned = fullName({ module, controller, action: '' })
  for (const [property, run] of functions) {
    if (isReservedForHook(property)) continue
    const action = kebabCase(property)
    checks.run(() =>
      actions.set(
        register(actionNames, 'action', action, toKey(action), owned),
        registered(action, run),
      ),
    )
  }
  const ownCall = functions.get(CALL)
  const call = ownCall && registered(CALL, ownCall)
  const missing = hooks && registered('', throwNoAction)
  checks.end()
  return { module, controller, actions, call, missing }
}

function checkOwner(owner: Controller, name: string): void {
  const builtIn = isObject(owner) ? builtInClassOf(owner) : ''
  if (builtIn === undefined) return
  const hint = builtIn === 'Promise' ? ': is an "await" missing?' : ''
  const got = builtIn && `, got a ${builtIn}${hint}`
  throw new TypeError(`Expected the controller "${name}" to be an object of functions${got}`)
}

function throwNoAction({ action }: HttpRequest): never {
  throw new NoActionError(action)
}

/**
 * Adds a name by its key, and returns the key.
 *
 * @param prefix Text before the names in a message, such as `news/` (default none).
 * @throws {TypeError} If no URL can contain the name, or another name has the same key.
 */
export function register(
  names: Map<string, string>,
  kind: string,
  name: string,
  key: string,
  prefix = '',
): string {
  const described = `the ${kind} "${prefix}${name}"`
  if (key === '' || /[/?#\s]/.test(name)) throw new TypeError(`No URL can name ${described}`)
  const other = names.get(key)
  if (other !== undefined) {
    throw new TypeError(
      name === other
        ? `There is a second definition of ${described}`
        : `No URL can distinguish ${described} from "${prefix}${other}"`,
    )
  }
  names.set(key, name)
  return key
}

function methodsOf(action: Action, name: string): readonly string[] | undefined {
  // A misspelt restriction would allow every method.
  if (Object.hasOwn(action, 'method')) {
    throw new TypeError(`There is no "method" for the action "${name}": did you mean "methods"?`)
  }
  if (!Object.hasOwn(action, 'methods') || action.methods === undefined) return undefined
  const methods = checkedMethods(action.methods, name)
  const implied = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS']
  return [...new Set([...methods, ...implied])]
}

const LIMITS: readonly (keyof LimitOverrides)[] = ['maxBodyBytes', 'maxFields', 'timeoutMs']

function limitsOf({ limits }: Action, name: string): Partial<LimitOverrides> | undefined {
  if (limits === undefined) return undefined
  if (!isObject(limits)) {
    throw new TypeError(`Expected the limits of the action "${name}" to be an object`)
  }
  return definedLimits(limits, LIMITS, ` of the action "${name}"`)
}
