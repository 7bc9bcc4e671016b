import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import * as streams from 'node:stream'
import { Markup } from '../http/html.ts'
import { type HttpRequest, isRequest, stateOf } from '../http/request.ts'
import { type HttpResponse, isResponse } from '../http/response.ts'

/** The return value of an action or a hook. The response ends the request. A request is dispatched next. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is the common one.
export type Returned = void | HttpRequest | HttpResponse

/**
 * A function that handles a request. It fills in the response, which it may return, or returns another request to dispatch
 * next.
 *
 * @example
 * export function save(request, response) { response.redirect('/news') }
 * save.methods = ['POST']
 * save.limits = { maxBodyBytes: 10_485_760 }
 */
export interface Action {
  (request: HttpRequest, response: HttpResponse): Returned | Promise<Returned>
  /**
   * The allowed methods, in upper case, such as `['GET', 'POST']` (default: all but TRACE and CONNECT). Any other method
   * gets 405 with `Allow`, except `OPTIONS`, which gets 204, and `HEAD`, which is allowed if `GET` is.
   */
  methods?: readonly string[]
  /** Limits that replace those of the front controller for this action. */
  limits?: Partial<LimitOverrides>
}

/** Limits of one action. */
export interface LimitOverrides {
  /** Maximum bytes of a body; beyond it 413. */
  readonly maxBodyBytes: number
  /** Maximum fields of a form; beyond it 413. */
  readonly maxFields: number
  /** Maximum milliseconds of the action; beyond it 503, or 408 while a body arrives. */
  readonly timeoutMs: number
}

/**
 * An object whose functions are actions. The URL name of `fooBar` is `foo-bar`. Other properties are ignored. A module
 * namespace (`import * as news`) is a controller, and so is an instance of a class: the methods of its classes are actions
 * too, except private ones (`#name`) and those of classes of Node, such as `EventEmitter`.
 *
 * The functions `init`, `preDispatch` and `postDispatch` are hooks, not actions: they run around each action, as in
 * ZF1. `__call` is the action for names that the controller does not have.
 */
export type Controller = object

/** The controllers of a module, by their names in URLs, such as `user-admin`. */
export type Controllers = ReadonlyMap<string, Controller>

/** The controllers of a module as an option: a Map, or an object, in which the key `userAdmin` is `user-admin` in URLs. */
export type NamedControllers = Controllers | Readonly<Record<string, Controller>>

/**
 * Returns the functions of a controller by their names: its own ones, and those of its classes. Classes that it holds are
 * left out.
 */
export function functionsOf(controller: Controller): ReadonlyMap<string, Action> {
  const functions = new Map<string, Action>()
  // Own properties only: /news/constructor must be a 404, not Object's constructor.
  for (const [name, value] of Object.entries(controller)) {
    if (isAction(value)) functions.set(name, value)
  }
  // Any member of an inner class hides one of an outer class, also a getter.
  const seen = new Set(['constructor'])
  for (const prototype of prototypesOf(controller)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      const isHidden = seen.has(name) || Object.hasOwn(controller, name)
      if (!isHidden && isAction(value)) functions.set(name, value)
      seen.add(name)
    }
  }
  return functions
}

// The classes whose methods are not actions: otherwise any client could request /news/emit.
const NODE_CLASSES: readonly unknown[] = [
  EventEmitter,
  EventTarget,
  AsyncResource,
  ...Object.values(streams),
]

/**
 * Returns the prototypes of the classes of an instance, the innermost first. Nothing is inherited from any other object, or from
 * the classes of Node.
 *
 * @internal
 */
export function prototypesOf(controller: Controller): readonly object[] {
  const prototypes: object[] = []
  let each: object | null = Object.getPrototypeOf(controller)
  while (each !== null && isPrototypeOfClass(each) && !isRoot(each)) {
    if (NODE_CLASSES.includes(each.constructor)) break
    prototypes.push(each)
    each = Object.getPrototypeOf(each)
  }
  return prototypes
}

/** Returns the name of the built-in class of an object, such as `Map`; undefined for a controller. @internal */
export function builtInClassOf(object: object): string | undefined {
  return prototypesOf(object).find(isBuiltIn)?.constructor.name
}

// Reports whether a prototype is Object.prototype, also that of another realm.
function isRoot(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && isBuiltIn(prototype)
}

function isBuiltIn(prototype: object): boolean {
  return /\[native code\] \}$/.test(Function.prototype.toString.call(prototype.constructor))
}

function isPrototypeOfClass(object: object): boolean {
  const owner: unknown = Object.getOwnPropertyDescriptor(object, 'constructor')?.value
  return typeof owner === 'function' && owner.prototype === object
}

/** Reports whether a value is an action. A class is not an action: a file may export it for other files. */
export function isAction(value: unknown): value is Action {
  return typeof value === 'function' && !isClass(value)
}

// The text of a method named `class` begins with `class` too, but a method has no prototype.
function isClass(value: object): boolean {
  return (
    Object.hasOwn(value, 'prototype') && /^class\b/.test(Function.prototype.toString.call(value))
  )
}

/** @throws {TypeError} If a value is not an action. */
export function checkAction(value: unknown): void {
  if (isAction(value)) return
  const kind = typeof value === 'function' ? 'class' : value === null ? 'null' : typeof value
  throw new TypeError(`Expected an action, got "${kind}"`)
}

type AnyFunction = (...args: never[]) => unknown

const originals = new WeakMap<AnyFunction, AnyFunction>()

/** Returns the function that `get()`, `withParams()` and others wrapped; the action itself if none did. @internal */
export function originalOf(action: AnyFunction): AnyFunction {
  const original = originals.get(action)
  return original === undefined ? action : originalOf(original)
}

/** Copies the name and the properties of an action to the function that wraps it. */
export function wrapAction(run: Action, original: AnyFunction): Action {
  originals.set(run, original)
  Object.assign(run, original)
  return Object.defineProperty(run, 'name', { value: original.name, configurable: true })
}

/** The request and the response that an action or a hook has received. */
interface Received {
  readonly request: HttpRequest
  readonly response: HttpResponse
}

/**
 * Checks that an action or a hook returned nothing, its response, or a request to be dispatched next. That request must
 * be of the same message: the reports know the values of this message, and the deadlines its client.
 *
 * @throws {TypeError} If it returned anything else; `who` names the function in the message.
 */
export function checkReturned(
  returned: unknown,
  who: string,
  { request, response }: Received,
): HttpRequest | HttpResponse | undefined {
  if (returned === undefined) return undefined
  if (returned === response) return response
  if (!isRequest(returned)) {
    throw new TypeError(
      `${who} returned ${wordOf(returned)}; expected nothing, the response, or a request to be dispatched`,
    )
  }
  if (stateOf(returned).message === stateOf(request).message) return returned
  throw new TypeError(
    `${who} returned a new HttpRequest; expected one that the current request makes: request.forward({ action, controller, module, params })`,
  )
}

const REMEDIES: Readonly<Record<string, string>> = {
  object: 'response.json()',
  string: 'response.text()',
}

function wordOf(value: unknown): string {
  if (isResponse(value)) return 'another response'
  if (value === null) return 'null'
  const remedy = value instanceof Markup ? 'response.html()' : REMEDIES[typeof value]
  return `a value of the type ${typeof value}${remedy ? ` (did you mean ${remedy}?)` : ''}`
}
