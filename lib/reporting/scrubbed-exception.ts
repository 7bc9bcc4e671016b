import { statusOf } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import { isKnownName, knownWords } from '../scrubbing/known-words.ts'
import { MAX_TEXT, scrubTexts } from '../scrubbing/scrub.ts'
import { sentNameFinder } from '../scrubbing/sent-names.ts'
import { safeName, shapeOf } from '../scrubbing/shape.ts'
import {
  clientTextsOf,
  MAX_FRAME,
  type RawException,
  readException,
  type Scrubber,
  textsOf,
  withInner,
} from './exception-report.ts'
import {
  cutFrame,
  endOfFile,
  knownLocationOf,
  learnLocation,
  safeCallee,
  safePath,
} from './frames.ts'
import { claim, type Ownership, ownerOf } from './ownership.ts'
import { messageAboutNames } from './request-names.ts'

/** The properties of an exception, and the scrubber for its texts. */
export interface ScrubbedException {
  readonly raw: RawException
  readonly hasStack: boolean
  readonly scrubber: Scrubber
  /** Scrubs a text of the exception for the client of its request. */
  readonly textForClient: (text: string) => string
}

// The scrubber for errors without a request: known words are not values, but the name of a function may be a value.
const knownWordsOnly: Scrubber = {
  text: knownWords,
  name: (name) => (isKnownName(name) ? name : shapeOf(name)),
  // A location that is not a path may be a value.
  frame(frame) {
    if (frame.length > MAX_FRAME) return shapeIn(frame)
    const { callee, script, position } = cutFrame(frame)
    if (script === '') return shapeIn(frame)
    const shown = safeCallee(callee) + safePath(script) + position
    learnLocation(frame, shown)
    return shown
  },
}

// The exceptions that were scrubbed last, by request.
const latest = new WeakMap<HttpRequest, ReadonlyMap<Error, ScrubbedException>>()

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
      textForClient: knownWords,
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
  const ownership = claim([...exceptions, ...inner.map(({ value }) => value)], request)
  // The client reads no message of a fault.
  const rejections = unsafe.filter(([exception]) => statusOf(exception) < 500)
  const forClient = rejections.flatMap(([, raw]) => searchedTextsOf(raw, clientTextsOf))
  let results: Results | undefined
  const search = (): Results => {
    results ??= searchAll(inner, forClient, request, ownership)
    return results
  }
  const otherwise = scrubWithoutSearch(request, ownership)
  const scrubber = scrubberOf(
    searchIn(() => search().shown),
    otherwise,
  )
  const ofClient = searchIn(() => search().shownToClient)
  const textForClient = (text: string): string => ofClient(text) ?? otherwise.text(text)
  return new Map(
    raws.map(([exception, raw]) => [exception, { raw, hasStack, scrubber, textForClient }]),
  )
}

// The texts as they are shown; undefined for one that is not searched.
type Shown = ReadonlyMap<string, string | undefined>

interface Results {
  readonly shown: Shown
  readonly shownToClient: Shown
}

// Returns a text without the values of a request; undefined if it is not searched.
type Search = (text: string) => string | undefined

// Returns a search that begins when the first text is needed: for most faults that are only counted, none is.
function searchIn(shown: () => Shown): Search {
  return (text) => (isSearched(text) ? shown().get(text) : undefined)
}

function searchAll(
  raws: readonly RawException[],
  forClient: readonly string[],
  request: HttpRequest,
  ownership: Ownership,
): Results {
  const texts = new Map<string, string>()
  for (const raw of raws) {
    for (const text of searchedTextsOf(raw)) {
      // The text may quote a value of an owner. Searches it as the owner has shown it, without the labels that the client of
      // the owner has chosen.
      const shown =
        ownership === 'own'
          ? text
          : ownerOf(raw.value)
              ?.shown?.get(text)
              ?.replace(/\[[\w.-]+\]/g, '[value]')
      if (shown !== undefined) texts.set(text, shown)
    }
  }
  const ofClient = forClient.filter((text) => texts.has(text))
  const scrubbed = scrubTexts(
    [...texts.values()],
    request,
    ofClient.map((text) => texts.get(text) ?? ''),
  )
  const shown = new Map(Array.from(texts.keys(), (text, i) => [text, scrubbed.texts[i]]))
  for (const raw of ownership === 'own' ? raws : []) {
    const owner = ownerOf(raw.value)
    // Keeps only the texts of this exception: they stay in memory as long as it does.
    if (owner) owner.shown = new Map(searchedTextsOf(raw).map((text) => [text, shown.get(text)]))
  }
  return {
    shown,
    shownToClient: new Map(ofClient.map((text, i) => [text, scrubbed.clientTexts[i]])),
  }
}

// Returns the scrubber for texts that are not searched. It shows shapes, and known words if texts may quote another request.
function scrubWithoutSearch(request: HttpRequest, ownership: Ownership): Scrubber {
  const isSent = sentNameFinder(request)
  return {
    text: ownership === 'own' ? shapeIn : knownWords,
    name: knownWordsOnly.name,
    frame(frame) {
      const mayLearn = ownership !== 'shared' && knownLocationOf(frame) === ''
      // A value of this request, or of another owner, may have forged the frame.
      if (mayLearn && !isSent(endOfFile(frame))) learnLocation(frame, frame)
      return knownLocationOf(frame) || shapeIn(frame)
    },
  }
}

function shapeIn(text: string): string {
  return `[${shapeOf(text)}]`
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
      const shown = isForged ? result : (search(callee) ?? '') + script + position
      learnLocation(frame, shown)
      return shown
    },
  }
}

// A validation error may quote a value 20 times: to hash all texts would take longer than the search.
function searchedTextsOf(raw: RawException, listTexts = textsOf): readonly string[] {
  let length = 0
  return listTexts(raw).filter((text) => {
    if (!isSearched(text)) return false
    length += text.length
    return length <= 2 * MAX_TEXT
  })
}

// Excludes long texts, because a Map would hash all of them.
function isSearched(text: string): boolean {
  return text.length <= MAX_TEXT
}
