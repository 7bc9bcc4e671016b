import type { HttpRequest } from '../http/request.ts'
import {
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

// The first request of each exception. Requests share one if they await the same promise, and it may
// quote a value of the first request.
const owners = new WeakMap<object, { readonly id: string; readonly search: Search }>()

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
  exceptions: Iterable<Error>,
  request: HttpRequest,
  hasStack: boolean,
): ReadonlyMap<Error, ScrubbedException> {
  const raws = Array.from(
    exceptions,
    (exception) => [exception, readException(exception, hasStack)] as const,
  )
  // Messages about names are safe as they are: a scanner's 404 needs no search.
  const unsafe = raws.filter(([exception]) => messageAboutNames(exception, request) === undefined)
  const unsafeRaws = unsafe.flatMap(([, raw]) => withInner(raw))
  const scrubber = scrubberOf(searchOf(unsafeRaws, request))
  return new Map(raws.map(([exception, raw]) => [exception, { raw, hasStack, scrubber }]))
}

// Searches when the first text is needed: for most faults that are only counted, none is.
function searchOf(raws: readonly RawException[], request: HttpRequest): Search {
  const { id } = request
  // Each text, and its search in the first request if that is another one.
  const texts = new Map<string, Search | undefined>()
  // Not the request itself: an exception that a cache keeps would keep it.
  const own = new WeakRef(request)
  let results: ReadonlyMap<string, string | undefined> | undefined
  const search: Search = (text) => {
    results ??= resultsOf(texts, own.deref())
    return isSearched(text) ? results.get(text) : undefined
  }
  for (const raw of raws) {
    // A primitive value becomes a new object: nobody shares it.
    const value: object = Object(raw.value)
    const owner = owners.get(value) ?? { id, search }
    owners.set(value, owner)
    // A longer text is not searched. A Map would hash all of it.
    for (const text of textsOf(raw).filter(isSearched)) {
      texts.set(text, owner.id === id ? texts.get(text) : owner.search)
    }
  }
  return search
}

// Shows only the shape of a text that was not searched.
function scrubberOf(scrubbed: Search): Scrubber {
  return {
    text: (text) => scrubbed(text) ?? `[${shapeOf(text)}]`,
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
  const before = Array.from(texts, ([text, search]) =>
    search === undefined ? text : (search(text) ?? `[${shapeOf(text)}]`),
  )
  const results = scrubAll(before, request)
  return new Map(Array.from(texts.keys(), (text, i) => [text, results[i]]))
}

function isSearched(text: string): boolean {
  return text.length <= MAX_TEXT
}
