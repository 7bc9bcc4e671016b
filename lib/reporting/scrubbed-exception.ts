import { hash } from 'node:crypto'
import { NoControllerError, ThrownValueError } from '../http/errors.ts'
import { isInstance, read } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import {
  firstErrors,
  type RawException,
  readException,
  type Scrubber,
  textsOf,
  withInner,
} from './exception-report.ts'
import { locationOf, partsOf } from './frames.ts'
import { isKnownName, knownWords } from './known-words.ts'
import { messageAboutNames } from './request-names.ts'
import { MAX_TEXT, scrubAll } from './scrub.ts'
import { safeName, shapeOf } from './shape.ts'

/** The properties of an exception, and the scrubber for its texts. */
export interface ScrubbedException {
  readonly raw: RawException
  readonly hasStack: boolean
  readonly scrubber: Scrubber
}

// A name in a frame: of a function, a folder or a file.
const FRAME_PART = /[^\s./:()[\]<>,#$@]+/g

/** The scrubber for errors without a request: known words are no values, but the name of a function may be one. */
export const shapesAlone: Scrubber = {
  text: knownWords,
  name: (name) => (isKnownName(name) ? name : shapeOf(name)),
  // A location that is no path may be a value.
  frame(frame) {
    const { callee, script, position } = partsOf(frame)
    return script === '' ? `[${shapeOf(frame)}]` : safeCallee(callee) + safePath(script) + position
  },
}

function safePath(script: string): string {
  return script.replace(FRAME_PART, safeName)
}

// The whole name too: its parts alone may be too short to look like a token.
function safeCallee(callee: string): string {
  return callee.replace(/[^\s()[\]]+/g, (name) => {
    const shown = name.replace(FRAME_PART, safeName)
    const letters = name.replace(/[.#<>$@]/g, '')
    return shown === name && safeName(letters) !== letters ? shapeOf(name) : shown
  })
}

// The exceptions of each request that were scrubbed last.
const known = new WeakMap<HttpRequest, ReadonlyMap<Error, ScrubbedException>>()

// Returns a text without the values of a request; undefined if it is not searched.
type Search = (text: string) => string | undefined

// The first request of an exception, and its search if that was needed.
interface Owner {
  readonly id: string
  readonly search?: Search
}

// Requests share an exception if they await the same promise, and it may quote a value of the first one.
const owners = new WeakMap<object, Owner>()
// The ids of the owners of thrown strings, by hash.
const textOwners = new Map<string, string>()
const MAX_TEXT_OWNERS = 1_000
// Of the causes and errors of an exception, also those that no report shows.
const MAX_OWNED = 100

/** Makes a request the owner of its exceptions, their causes and errors. Reports whether any has another owner. */
export function claim(exceptions: Iterable<unknown>, request: HttpRequest): boolean {
  const { id } = request
  const thrown = new Set(exceptions)
  let isShared = false
  for (const each of thrown) {
    const value = isInstance(ThrownValueError, each) ? read(each, 'value') : each
    if (ownerOf(value, { id }).id !== id) isShared = true
    const errors = firstErrors(dataOf(value, 'errors'), MAX_OWNED)
    for (const inner of [dataOf(value, 'cause'), ...errors]) {
      if (inner !== undefined && thrown.size < MAX_OWNED) thrown.add(inner)
    }
  }
  return isShared
}

/** Reports whether an exception is the 404 for the name of a request. The reporter claims none: a scanner causes many. */
export function isMadeFor(exception: unknown, { controller }: HttpRequest): boolean {
  return isInstance(NoControllerError, exception) && read(exception, 'controller') === controller
}

// Calls no getter: the report reads each property once.
function dataOf(value: unknown, name: string): unknown {
  try {
    return Object.getOwnPropertyDescriptor(Object(value), name)?.value
  } catch {
    // A proxy may throw.
    return undefined
  }
}

// Returns the owner of a thrown value: `own` if it has no other one.
function ownerOf(value: unknown, own: Owner): Owner {
  if (typeof value === 'string') return { ...own, id: textOwnerOf(value, own.id) }
  if (Object(value) !== value) return own
  const found = owners.get(value as object)
  const isOwn = found === undefined || (found.id === own.id && found.search === undefined)
  const owner = isOwn ? own : found
  if (owner !== found) owners.set(value as object, owner)
  return owner
}

function textOwnerOf(text: string, id: string): string {
  // Not a text that may be shown in any case.
  if (!isSearched(text) || knownWords(text) === text) return id
  const key = hash('sha1', text)
  const owner = textOwners.get(key) ?? id
  if (textOwners.size === MAX_TEXT_OWNERS && !textOwners.has(key)) {
    textOwners.delete(textOwners.keys().next().value as string)
  }
  textOwners.set(key, owner)
  return owner
}

/**
 * Reads and scrubs an exception of a request. Keeps the result, which the response, the development
 * page, the log, the channel and `onReport` share.
 *
 * @param exceptions Further exceptions to scrub in the same pass over the values.
 */
export function scrubException(
  exception: Error,
  request: HttpRequest,
  hasStack: boolean,
  exceptions: readonly Error[] = [],
): ScrubbedException {
  const found = known.get(request)?.get(exception)
  if (found?.hasStack === hasStack) return found
  const scrubbed = scrubTogether(new Set([exception, ...exceptions]), request, hasStack)
  known.set(request, scrubbed)
  return scrubbed.get(exception) as ScrubbedException
}

function scrubTogether(
  exceptions: ReadonlySet<Error>,
  request: HttpRequest,
  hasStack: boolean,
): ReadonlyMap<Error, ScrubbedException> {
  const raws = Array.from(
    exceptions,
    (exception) => [exception, readException(exception, hasStack)] as const,
  )
  // Messages about names are safe as they are: a scanner's 404 needs no search.
  const unsafe = raws.filter(([exception]) => messageAboutNames(exception, request) === undefined)
  const inner = unsafe.flatMap(([, raw]) => withInner(raw))
  const isShared =
    claim([...exceptions, ...inner.map(({ value }) => value)], request) ||
    inner.some(({ value }) => isInstance(NoControllerError, value) && !isMadeFor(value, request))
  const scrubber = scrubberOf(searchOf(inner, request, isShared), isShared)
  return new Map(raws.map(([exception, raw]) => [exception, { raw, hasStack, scrubber }]))
}

const unsearched: Search = () => undefined

// Searches when the first text is needed: for most faults that are only counted, none is.
function searchOf(raws: readonly RawException[], request: HttpRequest, isShared: boolean): Search {
  const { id } = request
  // Each text, and its search in the first request if that is another one.
  const texts = new Map<string, Search | undefined>()
  // Not the request itself: an exception that a cache keeps would keep it.
  const own = new WeakRef(request)
  let results: ReadonlyMap<string, string | undefined> | undefined
  const search: Search = (text) => {
    if (results === undefined) {
      // Two requests may search in each other.
      results = new Map()
      results = resultsOf(texts, own.deref())
    }
    return isSearched(text) ? results.get(text) : undefined
  }
  for (const raw of raws) {
    const value = isInstance(ThrownValueError, raw.value) ? read(raw.value, 'value') : raw.value
    const owner = ownerOf(value, { id, search })
    // A longer text is not searched. A Map would hash all of it.
    for (const text of textsOf(raw).filter(isSearched)) {
      // Any other text beside a shared one may quote it.
      const otherwise = texts.get(text) ?? (isShared ? unsearched : undefined)
      texts.set(text, owner.id === id ? otherwise : (owner.search ?? otherwise))
    }
  }
  return search
}

// Shows only the shape of a text that was not searched; of a shared one, also the known words.
function scrubberOf(scrubbed: Search, isShared: boolean): Scrubber {
  return {
    text: (text) => scrubbed(text) ?? (isShared ? knownWords(text) : `[${shapeOf(text)}]`),
    name(name) {
      const result = scrubbed(name)
      if (result === undefined) return shapesAlone.name(name)
      return result === name ? safeName(name) : shapeOf(name)
    },
    frame(frame) {
      const result = scrubbed(frame)
      if (result === undefined) return locationOf(frame) || `[${shapeOf(frame)}]`
      const { callee, script, position } = partsOf(frame)
      // A frame that a value forges has its position from that value too.
      const isForged = script === '' || safePath(script) !== script || !result.endsWith(position)
      return isForged ? result : scrubbed(callee) + script + position
    },
  }
}

function resultsOf(
  texts: ReadonlyMap<string, Search | undefined>,
  request: HttpRequest | undefined,
): ReadonlyMap<string, string | undefined> {
  if (request === undefined) return new Map()
  const before = Array.from(texts, ([text, search]) => (search ? search(text) : text))
  const results = scrubAll(
    before.map((text) => text ?? ''),
    request,
  )
  return new Map(Array.from(texts.keys(), (text, i) => [text, before[i] && results[i]]))
}

function isSearched(text: string): boolean {
  return text.length <= MAX_TEXT
}
