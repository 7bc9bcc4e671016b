import { NoControllerError, nameClaims, ThrownValueError } from '../http/errors.ts'
import { isInstance, read } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import {
  causesOf,
  MAX_FRAME,
  type RawException,
  readException,
  type Scrubber,
  textsOf,
  withInner,
} from './exception-report.ts'
import { cutFrame, locationOf } from './frames.ts'
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

// The scrubber for errors without a request: known words are not values, but the name of a function may be a value.
const knownWordsOnly: Scrubber = {
  text: knownWords,
  name: (name) => (isKnownName(name) ? name : shapeOf(name)),
  // A location that is not a path may be a value.
  frame(frame) {
    if (frame.length > MAX_FRAME) return shapesOnly.frame(frame)
    const { callee, script, position } = cutFrame(frame)
    return script === '' ? `[${shapeOf(frame)}]` : safeCallee(callee) + safePath(script) + position
  },
}

function safePath(script: string): string {
  return script.replace(FRAME_PART, safeName)
}

// Also checks each name as a whole: its parts alone may be too short to look like a token.
function safeCallee(callee: string): string {
  return callee.replace(/[^\s()[\]]+/g, (name) => {
    const shown = name.replace(FRAME_PART, safeName)
    const letters = name.replace(/[.#<>$@]/g, '')
    return shown === name && safeName(letters) !== letters ? shapeOf(name) : shown
  })
}

// The exceptions that were scrubbed last, by request.
const latest = new WeakMap<HttpRequest, ReadonlyMap<Error, ScrubbedException>>()

// The first request of an exception.
interface Owner {
  readonly id: string
  /** The texts of the exception as its report showed them: undefined for one that was not searched. */
  shown?: ReadonlyMap<string, string | undefined>
}

/** The request that claims exceptions. */
type Claimant = Pick<HttpRequest, 'id' | 'controller'>

// Requests share an exception if they await the same promise, and it may quote a value of the first one.
const owners = new WeakMap<object, Owner>()
const MAX_OWNED = 300
// Maximum exceptions of a report that is searched for the values of a request.
const MAX_SEARCHED_EXCEPTIONS = 100

/**
 * Makes a request the owner of its exceptions, and of their causes and errors, unless they have one. Without it, the
 * report of another request could show the values of this one.
 *
 * @param request Undefined for an error without a request.
 * @returns Whether another request owns one of them, or whether they are too many.
 */
export function claim(exceptions: readonly unknown[], request: Claimant | undefined): boolean {
  // The 404 of a scanner has no other exceptions, and needs no Set.
  if (exceptions.every((exception) => claimName(exception, request))) return false
  const values = new Set(exceptions)
  let isShared = false
  let left = MAX_OWNED
  for (const value of values) {
    const owned = ownedPart(value)
    if (Object(owned) !== owned || claimName(value, request)) continue
    const id = request?.id ?? ''
    const owner = owners.get(owned as object) ?? { id: nameClaims.has(value as object) ? '' : id }
    owners.set(owned as object, owner)
    isShared ||= owner.id !== id
    if (left <= 0) continue
    const inner = causesOf(owned, left)
    // Exceptions may share their errors, which are read again for each of them.
    left -= inner.length
    for (const each of inner) values.add(each)
  }
  return isShared || values.size > MAX_SEARCHED_EXCEPTIONS
}

// Claims the error for the controller name of the request by a mark, which takes less time than an owner. Reports whether the
// exception is that error.
function claimName(exception: unknown, request: Claimant | undefined): boolean {
  if (!isInstance(NoControllerError, exception)) return false
  const isOwn = read(exception, 'controller') === request?.controller
  if (isOwn) nameClaims.add(exception)
  return isOwn
}

// Returns the object by which the owner is known: a thrown object, because each request has an exception of its own around it.
function ownedPart(exception: unknown): unknown {
  const value = isInstance(ThrownValueError, exception) ? read(exception, 'value') : exception
  return Object(value) === value ? value : exception
}

/**
 * Reads and scrubs an exception of a request. Keeps the result, which the response, the development
 * page, the log, the channel and `onReport` share.
 *
 * @param request Undefined for an error without a request: it is shown by its known words, and by shapes.
 * @param needsStack Whether the caller uses the stack. The result has it too if an earlier caller has needed it.
 * @param exceptions Further exceptions to scrub in the same pass over the values.
 */
export function scrubException(
  exception: Error,
  request: HttpRequest | undefined,
  needsStack: boolean,
  exceptions: readonly Error[] = [],
): ScrubbedException {
  if (request === undefined) {
    return {
      raw: readException(exception, needsStack),
      hasStack: needsStack,
      scrubber: knownWordsOnly,
    }
  }
  const found = latest.get(request)?.get(exception)
  if (found && (found.hasStack || !needsStack)) return found
  const scrubbed = scrubTogether(new Set([exception, ...exceptions]), request, needsStack)
  latest.set(request, scrubbed)
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
  // Messages about names are safe as they are: a scanner's 404 needs no search. A stack needs one.
  const unsafe = hasStack
    ? raws
    : raws.filter(([exception]) => messageAboutNames(exception, request) === undefined)
  const inner = unsafe.flatMap(([, raw]) => withInner(raw))
  const isShared = claim([...exceptions, ...inner.map(({ value }) => value)], request)
  const scrubber = scrubberOf(
    searchOf(inner, request, isShared),
    isShared ? knownWordsOnly : shapesOnly,
  )
  return new Map(raws.map(([exception, raw]) => [exception, { raw, hasStack, scrubber }]))
}

// Returns a text without the values of a request; undefined if it is not searched.
type Search = (text: string) => string | undefined

// Returns a search that begins when the first text is needed: for most faults that are only counted, none is.
function searchOf(raws: readonly RawException[], request: HttpRequest, isShared: boolean): Search {
  let results: ReadonlyMap<string, string | undefined> | undefined
  return (text) => {
    results ??= isShared ? shownBefore(raws, request) : search(raws, request)
    return isSearched(text) ? results.get(text) : undefined
  }
}

function search(raws: readonly RawException[], request: HttpRequest) {
  const texts = [...new Set(raws.flatMap(searchedTextsOf))]
  const results = scrubAll(texts, request)
  const shown = new Map(texts.map((text, i) => [text, results[i]]))
  for (const raw of raws) {
    const owner = owners.get(ownedPart(raw.value) as object)
    // Keeps only the texts of this exception: they stay in memory as long as it does.
    if (owner) owner.shown = new Map(searchedTextsOf(raw).map((text) => [text, shown.get(text)]))
  }
  return shown
}

// Searches the texts that the owners have shown, and no other ones: these may quote a value of an owner.
function shownBefore(raws: readonly RawException[], request: HttpRequest) {
  const before = new Map<string, string>()
  for (const raw of raws) {
    const owner = owners.get(ownedPart(raw.value) as object)
    for (const text of searchedTextsOf(raw)) {
      const shown = owner?.shown?.get(text)
      if (shown !== undefined) before.set(text, shown)
    }
  }
  const results = scrubAll([...before.values()], request)
  return new Map(Array.from(before.keys(), (text, i) => [text, results[i]]))
}

// Shows only the shape of a text that was not searched.
const shapesOnly: Scrubber = {
  text: (text) => `[${shapeOf(text)}]`,
  name: knownWordsOnly.name,
  frame: (frame) => locationOf(frame) || `[${shapeOf(frame)}]`,
}

function scrubberOf(search: Search, otherwise: Scrubber): Scrubber {
  return {
    text: (text) => search(text) ?? otherwise.text(text),
    name(name) {
      const result = search(name)
      if (result === undefined) return otherwise.name(name)
      if (result !== name) return shapeOf(name)
      // The capitals of ECONNREFUSED look like a token.
      return isKnownName(name) ? name : safeName(name)
    },
    frame(frame) {
      const result = search(frame)
      if (result === undefined) return otherwise.frame(frame)
      const { callee, script, position } = cutFrame(frame)
      // A segment with a blank or an at sign is not a name, although its parts are.
      const isNamed = script !== '' && safePath(script) === script && !/[^/]@|\s/.test(script)
      // If a value forged the frame, the position is a part of that value too.
      const isForged = !isNamed || !result.endsWith(position)
      return isForged ? result : (search(callee) ?? '') + script + position
    },
  }
}

// A validation error may quote a value 20 times: to hash all texts would take longer than the search.
function searchedTextsOf(raw: RawException): readonly string[] {
  let length = 0
  return textsOf(raw).filter((text) => {
    if (!isSearched(text)) return false
    length += text.length
    return length <= 2 * MAX_TEXT
  })
}

// Excludes long texts, because a Map would hash all of them.
function isSearched(text: string): boolean {
  return text.length <= MAX_TEXT
}
