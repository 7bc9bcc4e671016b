import { copyOf } from '../http/retention.ts'
import { isName, safeName, shapeOf } from '../scrubbing/shape.ts'

// The folder of lib/ and of the program. A bundle of the application may have no such folder.
const PORTICO_FOLDER = /^.*\/(?=lib\/(?:reporting\/frames|chunks\/core)\.[jt]s$)/.exec(
  import.meta.url,
)?.[0]
const PORTICO_FILES =
  PORTICO_FOLDER === undefined ? [] : [`${PORTICO_FOLDER}lib/`, `${PORTICO_FOLDER}server.js`]

// The end of a frame: the name of a script, the line and the column.
const LOCATION = /[\\/]([^\\/?]{1,200}\.[cm]?[jt]sx?)(?:\?[^\s)]*)?(:\d+:\d+)\)?$/

const FRAME = /^\s+at .*:\d+:\d+\)?$/
const MAX_FRAMES = 8
const MAX_STACK = 16_384
// The stack begins with the name of the class and the message.
const MAX_HEADER = 1_024
// The characters at both ends of a changed message that are compared with the stack.
const MAX_COMPARED = 4_096

/** Frames of a stack. */
export interface Frames {
  /** The first 8 frames, without `at`, or the first 7 and the first of the application. */
  readonly lines: readonly string[]
  /** Whether they are known to follow the message. Otherwise the message may contain some of them. */
  readonly followMessage: boolean
}

/**
 * Returns the frames of a stack: the first unbroken block of them after the message, or the last block if the
 * message is not found.
 */
export function framesOf(stack: string, message: string, name: string): Frames {
  const end = endOfMessage(stack, message, name)
  const following = end === undefined ? [] : framesIn(blockOf(linesIn(stack, end).slice(1)))
  if (following.length > 0) return { lines: following, followMessage: true }
  const all = linesIn(stack, 0)
  const last = all.findLastIndex(isFrame)
  const start = all.slice(0, last + 1).findLastIndex((line) => !isFrame(line)) + 1
  return { lines: framesIn(blockOf(all.slice(start))), followMessage: false }
}

function linesIn(stack: string, start: number): string[] {
  return stack.slice(start, start + MAX_STACK).split('\n')
}

function isFrame(line: string): boolean {
  return /^\s+at /.test(line)
}

function blockOf(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => !isFrame(line))
  return end < 0 ? lines : lines.slice(0, end)
}

function framesIn(lines: readonly string[]): readonly string[] {
  const frames = lines.filter((line) => FRAME.test(line))
  const texts = frames.map((line) => line.trim().slice('at '.length))
  // The frames of Portico are the same for each error of an action. An error of Portico itself has no others but those of Node.
  const others = texts.filter((text) => !isOfPortico(text))
  return firstFrames(others.every((text) => text.includes('node:')) ? texts : others, MAX_FRAMES)
}

/** Returns the first frames. If none of them is of the application, its first frame stands in place of the last one. */
export function firstFrames(frames: readonly string[], max: number): readonly string[] {
  const first = frames.findIndex(isApplicationFrame)
  return first < max
    ? frames.slice(0, max)
    : [...frames.slice(0, max - 1), ...frames.slice(first, first + 1)]
}

// Returns the index of the end of the message in the stack. The stack has the message that the exception was created with: code
// may have added text to the message since then, before it or after it.
function endOfMessage(stack: string, message: string, name: string): number | undefined {
  const nameEnd = endOfName(stack, name)
  // With a code, Node writes the colon also without a message.
  if (message === '') {
    if (nameEnd === undefined) return undefined
    return endOfLine(stack, nameEnd + (stack.startsWith(']: ', nameEnd - 1) ? 2 : 0))
  }
  const start = nameEnd !== undefined && stack.startsWith(': ', nameEnd) ? nameEnd + 2 : undefined
  // Text may stand before the name too: the line of a SyntaxError, or of a script of node:vm. That line and the name may contain the
  // message.
  const header = stack.slice(0, MAX_HEADER)
  const begin = message.slice(0, MAX_HEADER / 2)
  for (const at of [start ?? -1, header.indexOf(begin), header.lastIndexOf(begin)]) {
    // A comparison with === takes a tenth of the time of startsWith().
    const isFound = at >= 0 && stack.slice(at, at + message.length) === message
    const end = isFound ? endOfLine(stack, at + message.length) : undefined
    if (end !== undefined) return end
  }
  return start && endOfChangedMessage(stack, message, start)
}

// Returns where the original message ends in the stack. It begins at `start`, and the changed message contains it: the
// longest start of the rest of the stack that the message has. No frame in it counts.
function endOfChangedMessage(stack: string, message: string, start: number): number | undefined {
  const original = stack.slice(start)
  const tail = Math.max(0, message.length - MAX_COMPARED)
  const lengths = [0, tail].map((from) => {
    const rest = message.slice(from)
    const index = indexOfLongestPrefix(original.slice(0, MAX_COMPARED), rest.slice(0, MAX_COMPARED))
    return commonLength(rest.slice(index), original)
  })
  const common = original.slice(0, Math.max(...lengths))
  const { length } = common.trimEnd()
  if (length === 0) return undefined
  // The added text may begin with a line break, and with spaces, too.
  return endOfLine(stack, start + common.length) ?? endOfLine(stack, start + length)
}

// Returns where a text has the longest prefix of a pattern, in linear time (Knuth, Morris and Pratt).
function indexOfLongestPrefix(pattern: string, text: string): number {
  const borders = new Uint16Array(pattern.length + 1)
  // Returns the length of the beginning of the pattern that a text ends with, if it had `length` before this character.
  const extend = (length: number, char: string): number => {
    let matched = length
    while (matched > 0 && pattern[matched] !== char) matched = borders[matched] as number
    return pattern[matched] === char ? matched + 1 : 0
  }
  for (let i = 1; i < pattern.length; i++) {
    borders[i + 1] = extend(borders[i] as number, pattern[i] as string)
  }
  let longest = 0
  let place = 0
  let matched = 0
  for (let i = 0; i < text.length; i++) {
    matched = extend(matched, text[i] as string)
    if (matched <= longest) continue
    longest = matched
    place = i + 1 - matched
  }
  return place
}

// Returns the index behind the name and the code that a stack begins with, as in `TypeError [ERR_X]: no`. Node writes the name that
// the exception has when the stack is first read; code may have changed it since.
function endOfName(stack: string, name: string): number | undefined {
  for (const candidate of [name, /^[\w$.]*/.exec(stack)?.[0] ?? '']) {
    const { length } = candidate
    const code = /^(?: \[\w+\])?(?=: |\n|$)/.exec(stack.slice(length, length + MAX_HEADER))
    if (code !== null && stack.slice(0, length) === candidate) return length + code[0].length
  }
  return undefined
}

// Returns the length of the beginning that two texts share. Compares in steps, because a message may have a million characters.
function commonLength(one: string, other: string): number {
  let length = 0
  for (const step of [4_096, 64, 1]) {
    const next = (text: string): string => text.slice(length, length + step)
    while (length + step <= one.length && next(one) === next(other)) length += step
  }
  return length
}

function endOfLine(stack: string, at: number): number | undefined {
  return at === stack.length || stack[at] === '\n' ? at : undefined
}

// The script of a frame, and the text before and after it.
const PARTS = /^(.*?\(|async |)((?:(?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])|node:)[^()]*)(:\d+:\d+\)?)$/

/** A frame such as `list (file:///srv/app/news.js:12:9)`, in three parts. */
export interface FrameParts {
  /** Such as `list (`. */
  readonly callee: string
  /** Such as `file:///srv/app/news.js`; '' if that is not a path. */
  readonly script: string
  /** Such as `:12:9)`. */
  readonly position: string
}

/** Returns the parts of a frame. Without a script, the callee is the whole frame. */
export function cutFrame(frame: string): FrameParts {
  const [, callee = frame, script = '', position = ''] = PARTS.exec(frame) ?? []
  return { callee, script, position }
}

/** Reports whether a frame is code of the application: not of Node, of a package or of Portico. */
export function isApplicationFrame(frame: string): boolean {
  return !/node:|[\\/]node_modules[\\/]/.test(frame) && !isOfPortico(frame)
}

/** Reports whether a text contains the URL of a file of Portico. */
export function isOfPortico(text: string): boolean {
  return PORTICO_FILES.some((file) => text.includes(file))
}

// The pattern takes up to 200 steps for each character.
const MAX_LOCATION = 200

/**
 * Returns file, line and column of a frame, such as `news.js:12:9`; `file` in place of a name that may be a token. Returns '' if
 * there is no file.
 */
export function locationOf(frame: string): string {
  const [, file = '', position = ''] = LOCATION.exec(frame.slice(-MAX_LOCATION)) ?? []
  const shown = isName(file.replace(/\.[^.]*$/, '')) ? file : 'file'
  return position && shown + position
}

// The pattern takes time that grows with the square of the text.
const MAX_FILE_END = 100

/** Returns the end of the name of the file of a frame, in ASCII. Whoever sends the name also sends its end. */
export function endOfFile(frame: string): string {
  return /[\w.-]*(?=(?:\?\S*)?:\d+:\d+\)?$)/.exec(frame.slice(-MAX_FILE_END))?.[0] ?? ''
}

// The locations of frames that were shown.
const knownLocations = new Set<string>()
const MAX_LOCATIONS = 1_000

/** Remembers the location of a frame, unless the text that is shown of the frame lacks it. */
export function learnLocation(frame: string, shown: string): void {
  const location = locationOf(frame)
  if (location === '' || locationOf(shown) !== location) return
  // Forged frames of values that no search knows may fill the set. Clearing it admits others again.
  if (knownLocations.size >= MAX_LOCATIONS) knownLocations.clear()
  knownLocations.add(copyOf(location))
}

/** Returns the location of a frame if it was shown before, so that it needs no search; else ''. */
export function knownLocationOf(frame: string): string {
  const location = locationOf(frame)
  return knownLocations.has(location) ? location : ''
}

// A name in a frame: of a function, a folder or a file.
const FRAME_PART = /[^\s./:()[\]<>,#$@]+/g

/** Replaces the names in the script of a frame that do not look like names by their shapes. */
export function safePath(script: string): string {
  return script.replace(FRAME_PART, safeName)
}

/** Does the same in a callee. Also checks each name as a whole: its parts alone may be too short to look like a token. */
export function safeCallee(callee: string): string {
  return callee.replace(/[^\s()[\]]+/g, (name) => {
    const shown = safePath(name)
    const letters = name.replace(/[.#<>$@]/g, '')
    return shown === name && safeName(letters) !== letters ? shapeOf(name) : shown
  })
}
