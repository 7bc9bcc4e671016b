import { lazyPattern } from './printable.ts'
import { shapeOf } from './shape.ts'

// The words of the messages of V8 and Node, and of usual error messages; those of the errors of the system are
// added below. A value that is one of them is shown, so the list has no names of persons, and not the words
// `password`, `secret` and `admin`.
const WORDS = `
about accept access account across action active add again against agent all allocation allow also altname an another
any api application are array assertion assign assignment async at attempt authentication authorization await be
because been before began begin below between bigint bind body boolean both but byte cache callback caller can can't
cancel cause certificate chain change channel check child chunk circular class client close code column command
complete config configuration configure connect constant constraint construct constructor content context controller
convert could couldn't count crash create current database date deadlock decode decrypt default delete destroy
detected did didn't disabled disconnected disk disposal do doesn't don't done due duplicate duration during each
element enabled encode entry environment establish event every exceed exception execute exist exit expect expired
export expression fail feature fetch few field find finish first flush folder forbidden found from full get
getaddrinfo getter give given gone got had handle handler hang has have header heap here hold hostname how however
http id if import incomplete incorrect index initial initialization input inside instance instead integer internal
into invoke isn't issuer it item iterable iterator json just keep key keyword kind known lack last late length less
level like limit line listen listener load local lock log lost malformed map match maximum method might milliseconds
minimum mismatch missing module more most much must my negative never new next non none nothing null number object
occurred ok old once one only option order other output over own package page parameter parse parser part party path
pending pool port position possible premature private program promise properties property prototype provide public
purpose query queryA queryAaaa queue range rate reach read readable reader reason receive recursive redirect reduce
reference regular reject rejection relation released reload remove report require reserved resolve response retry
return revoke route routine row run running runtime same save schema scheme script second section secure self sent
serialize server session set setter setting should shut shutting side sign signal signature size slow so some spawn
specified stack start state statement status still stop stopped stopping storage store stream strict string structure
super support suppressed symbol syntax take target task terminate than that them then there these they this those
thread threw through throw thrown time timeout timer to token took trailer transaction trust try tunnel two unable
uncaught undefined under unexpected unexpectedly unhandled unique unsupported up update url us user valid validation
variable verify version very via view wait warning was wasn't we what when where whether which while why will with
without won't work worker would writable write written yet you your zlib API CA CONNECT DNS EOF HTTP HTTPS ID IP JS
JSON OK SQL SSL TCP TLS URI URL UTF`

// The list has the stems: `close` stands for `closes`, `closed` and `closing` too.
const ENDINGS: readonly (readonly [ending: RegExp, stem: string])[] = [
  [/[sd]$/, ''],
  [/e[sd]$/, ''],
  [/ing$/, ''],
  [/ing$/, 'e'],
  [/'s$/, ''],
]
const SIGNS = new Set(['-', '=', '=>', '->', ':', '', '...'])

// Names of classes, and the codes of Node, of its parser of HTTP and of undici.
const CLASS = /^(?:[A-Z][a-z]+|JSON|HTTP|URI){0,6}(?:Error|Exception)$/
const CODE = /^(?:ABORT_ERR|MODULE_NOT_FOUND|(?:UND_)?(?:ERR|HPE)(?:_(?:[A-Z]+|HTTP2)){1,8})$/
// Words of these names and codes only.
const NAME_WORDS = `
aggregate arg args bounds bpl cb cert char clone cr crypto cycle dir dom equal err esm eval extension extensions fs h2
handshake http2 info jws jwt keylog lf max maxbuffer origins paused prx req res safe specifier sqlite stdio tls transfer truncated
upgrade upstream ws`
const WORD = /^(["'`([{<]{0,2})(.*?)(["'`)\]}>.,;:!?]{0,3})$/s
// A report may have 12 texts, and to examine 1,024 characters of each took up to 8 ms (node bench/attacks.js).
const MAX_EXAMINED = 640
const MAX_NAME = 200

/**
 * Returns a text in which each word that is not known is replaced by its shape. The known words are
 * those of usual error messages, the codes of the system and names of classes. The list is fixed, so
 * no other word of a request is shown.
 *
 * @example
 * knownWords('connect ECONNREFUSED 10.0.0.7:5432') // 'connect ECONNREFUSED token(13)'
 */
export function knownWords(text: string): string {
  if (text === '') return shapeOf(text)
  if (text.length <= MAX_EXAMINED) return text.split(/\s+/).map(showWord).join(' ')
  // Leaves out the last word: the limit may have cut it, and the beginning of a value may be a known word.
  const words = text.slice(0, MAX_EXAMINED).split(/\s+/).slice(0, -1)
  return `${words.map(showWord).join(' ')}...`
}

function showWord(word: string): string {
  if (SIGNS.has(word)) return word
  const [, opening = '', core = '', closing = ''] = WORD.exec(word) ?? []
  return core.split(/[-/]/).every(isKnown) ? word : `${opening}${shapeOf(core)}${closing}`
}

// Created when they are first needed, because they would take a millisecond of the start.
interface Words {
  readonly systemCodes: ReadonlySet<string>
  readonly known: ReadonlySet<string>
  readonly ofNames: ReadonlySet<string>
}

let words: Words | undefined

function wordSets(): Words {
  if (words !== undefined) return words
  // Only an error needs these modules: to load them takes up to 2 ms, which would be a part of each start.
  const { getSystemErrorMap } = process.getBuiltinModule('node:util')
  const dnsConstants: readonly unknown[] = Object.values(process.getBuiltinModule('node:dns'))
  const dnsCodes = dnsConstants.filter((value) => typeof value === 'string')
  const systemErrors = [...getSystemErrorMap().values()]
  words = {
    systemCodes: new Set([...systemErrors.map(([code]) => code), ...dnsCodes]),
    known: new Set([WORDS, ...systemErrors.map(([, text]) => text)].join(' ').split(/\s+/)),
    ofNames: new Set(NAME_WORDS.split(/\s+/)),
  }
  return words
}

/** Reports whether a name or a code is one of the system, or consists of known words, such as `TimeoutError`. */
export function isKnownName(name: string): boolean {
  if (name.length > MAX_NAME) return false
  const { systemCodes, known, ofNames } = wordSets()
  if (systemCodes.has(name)) return true
  const isCode = CODE.test(name)
  if (!isCode && !CLASS.test(name)) return false
  const words = isCode ? name.split('_').slice(1) : name.match(/JSON|HTTP|URI|[A-Z][a-z]+/g)
  return (words ?? []).every((word) => {
    const base = word.toLowerCase()
    return ofNames.has(base) || known.has(word) || hasKnownStem(base)
  })
}

function isKnown(word: string): boolean {
  if (wordSets().known.has(word) || isKnownName(word)) return true
  return /^[A-Z]?[a-z']*$/.test(word) && hasKnownStem(word.toLowerCase())
}

function hasKnownStem(word: string): boolean {
  const { known } = wordSets()
  if (known.has(word)) return true
  // Most other words have no such ending, and the patterns take a third of the time of a text of short words.
  return /[dgs]$/.test(word) && ENDINGS.some(([end, stem]) => known.has(word.replace(end, stem)))
}

// Words of the protocol and of the language. Many values are one of them, and no secret is.
const PUBLIC_WORDS = new Set(
  [
    'file ftp http https wss get head post put patch delete options trace connect',
    'true false null undefined none default index error errors code token type name value',
    'openid email profile query keep-alive close gzip deflate chunked identity utf-8 basic bearer',
    'application audio font image multipart text video json html plain css javascript xml',
    'x-www-form-urlencoded form-data octet-stream problem+json event-stream localhost 127.0.0.1',
    'accept authorization cache-control content-encoding content-length content-type cookie digest',
    'graphql-transport-ws graphql-ws iso-8859-1 negotiate us-ascii websocket x-requested-with zstd',
    'array boolean buffer date exception function map number object promise request response set string symbol',
  ].flatMap((line) => line.split(' ')),
)

/**
 * Reports whether a text consists of public words and names of classes, such as `TypeError: https://app.example`.
 *
 * @param more Further public words, in lower case.
 */
export function consistsOf(text: string, more: ReadonlySet<string>): boolean {
  const words = text.split(/[\s:/;,="']+/).filter((word) => word !== '')
  const isPublic = (word: string): boolean => PUBLIC_WORDS.has(word) || more.has(word)
  const isClass = (word: string): boolean => CLASS.test(word) && isKnownName(word)
  return words.length > 0 && words.every((word) => isPublic(word.toLowerCase()) || isClass(word))
}

// The fixed parts of messages of V8, as in `Cannot read properties of undefined (reading 'x')`.
const FIXED_PARTS =
  /Cannot (?:access|add|assign|convert|create|define|delete|destructure|read|redefine|set)\b(?: private)?(?: to)?(?: read only)?(?: propert(?:y|ies)(?: of (?:undefined|null)(?: \((?:reading|setting) ')?)?)?|(?:undefined|null) or null to object|before initialization|is not (?:a (?:function|constructor)|an object|defined|iterable|extensible)|Unexpected (?:token|end of (?:JSON )?input|identifier|string|number)|non-whitespace character after JSON|is not valid JSON|Maximum call stack size exceeded|Invalid array length|Assignment to constant variable|Converting circular structure to JSON/g

/** Returns the indexes of the characters of a text that belong to the fixed parts of messages of V8. */
export function fixedCharactersOf(text: string): ReadonlySet<number> {
  const fixed = new Set<number>()
  for (const { 0: part, index } of text.matchAll(FIXED_PARTS)) {
    for (let i = 0; i < part.length; i++) fixed.add(index + i)
  }
  return fixed
}

// Matches a letter or a digit, but not of a script without spaces between words.
const letterOrDigit = lazyPattern(
  '(?![\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}])[\\p{L}\\p{N}]',
  'u',
)

// An escape sequence of a terminal, such as a colour, whose last letter is not a part of the next word.
const MAX_ESCAPE = 48
const ESCAPE = /\x1b\[[\d;:]*[a-z]$/

/** Reports whether an escape sequence of a terminal ends before an index of a text. */
export function followsEscape(text: string, at: number): boolean {
  return ESCAPE.test(text.slice(Math.max(0, at - MAX_ESCAPE), at))
}

/** Reports whether a character is a letter or a digit of a script with spaces between words. */
export function isLetterOrDigit(char: string): boolean {
  // The expression takes ten times as long. Most ideographs need none.
  if (char >= '\x80') return !(char >= '\u3400' && char <= '\u9fff') && letterOrDigit().test(char)
  return (
    (char >= 'a' && char <= 'z') || (char >= '0' && char <= '9') || (char >= 'A' && char <= 'Z')
  )
}
