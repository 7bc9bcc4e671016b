import type { HttpRequest } from '../http/request.ts'
import { type RawException, readException, type Scrubber, textsOf } from './exception-report.ts'
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
  // A longer text is not searched. A Set or a Map would hash all of it.
  const texts = new Set(unsafe.flatMap(([, raw]) => textsOf(raw)).filter(isSearched))
  const scrubber = scrubberOf([...texts], request)
  return new Map(raws.map(([exception, raw]) => [exception, { raw, hasStack, scrubber }]))
}

// Searches when the first text is needed: for a fault that is only counted, none is. Shows only the
// shape of a text that was not searched.
function scrubberOf(texts: readonly string[], request: HttpRequest): Scrubber {
  let results: ReadonlyMap<string, string | undefined> | undefined
  const scrubbed = (text: string): string | undefined => {
    results ??= zip(texts, scrubAll(texts, request))
    return isSearched(text) ? results.get(text) : undefined
  }
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

function zip<T>(keys: readonly string[], values: readonly T[]): Map<string, T> {
  return new Map(keys.map((key, i) => [key, values[i] as T]))
}

function isSearched(text: string): boolean {
  return text.length <= MAX_TEXT
}
