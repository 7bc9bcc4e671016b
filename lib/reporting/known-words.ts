import { getSystemErrorMap } from 'node:util'
import { shapeOf } from './shape.ts'

// The words of the messages of V8 and Node, and of usual error messages. No word that is a common
// password or a name of a person.
const WORDS = `
  a able about above absent accept accepted access account across action active add added address after again against all
  allocation allow allowed already also an and another any anything api application are argument arguments array as
  assertion assign assignment async at attempt attempted attempts authentication authorization available await bad be
  because been before began begin being below between bigint body boolean both broken buffer busy but by bytes cache call
  callback called caller calling can can't cannot cause caused certificate change changed channel character characters
  check child chunk circular class client close closed closing code column command commit complete completed config
  configuration configure configured connect connected connecting connection connections constant constraint construct
  constructor content context controller convert converting could couldn't count crash crashed create created creating
  current data database date deadlock decode default defined delete deleted denied deprecated descriptor destroy
  destroyed detected did didn't directory disabled disconnected disk do does doesn't done don't double down duplicate
  duration during each element empty enabled encode end ended ends enough entry environment error errors event events
  every exceed exceeded exceeds exception execute executing exist existing exists exit exited expect expected expired
  export external fail failed failing fails failure fatal feature fetch field fields file files find finish finished
  first flush folder for forbidden foreign format found frame from full function gave get getter give given gone got
  greater had handle handler handles has hasn't have header headers heap host http https id if illegal import in
  incomplete incorrect index inside instance instead integer internal interrupted interval into invalid invalidated is
  isn't it item items iterable iterate iterator its job json keep key keyword known last lack large late length less
  level limit limits line list listen listener listening load loaded loading local lock locked log lookup lost made
  make malformed many map maximum maybe memory message method milliseconds minimum mismatch missing module more must
  name named names negative network never new next no node non none not nothing null number object occurred of off
  offset ok old on once one only open opened operation option options or order other out output outside over own
  package page parameter parameters parse parser parsing part path peer pending permission permitted pipe plugin pool
  port position positive possible private process processing program promise property properties protocol prototype
  provide provided public query queue quota range rate reach reached read readable reader reading reason receive
  received recursion recursive reference refused regular reject rejected rejection relation released reload remote
  remove removed reply report request requested requests require required reserved reset resolve resolved resource
  response result results retries retry return returned returns rollback route row rows run running runtime same save
  saved schema script second seconds section seems send sending sent serialize server service session set setter
  setting settings should shut shutdown shutting side signal since size slow socket some something source specified
  stack start started starting state statement static status still stop stopped stopping storage store stream strict
  string structure subscriber such super support supported symbol syntax system table take target task template
  temporary terminate terminated than that the their them then there these they this thread threw through throw thrown
  time timed timeout timer times to token too took transaction transfer trying two type typed unable unavailable
  uncaught undefined under unexpected unhandled unique unit unknown unreachable unsupported until up update updated
  upstream url use used user uses using valid validation value values variable version via view violates violation wait
  waiting warning was wasn't watch way were when where which while why will with within without won't work worker
  workers would write writable writing written wrong yet yield you your zero
  API DNS EOF HTTP HTTPS ID JSON OK SQL SSL TCP TLS URI URL UTF`

const SYSTEM_ERRORS = [...getSystemErrorMap().values()]
const SYSTEM_CODES = new Set(SYSTEM_ERRORS.map(([code]) => code))
const KNOWN_WORDS = new Set(
  [WORDS, ...SYSTEM_ERRORS.map(([, text]) => text)].join(' ').split(/\s+/),
)
const SIGNS = new Set(['-', '=', '=>', '->', ':', '', '...'])

// Names of classes, and the codes of Node.
const WELL_KNOWN = /^(?:(?:[A-Z]\w{0,30})?(?:Error|Exception)|ERR_[A-Z_]{2,40})$/
const WORD = /^(["'`([{<]{0,2})(.*?)(["'`)\]}>.,;:!?]{0,3})$/s
const MAX_EXAMINED = 1_024

/**
 * Returns a text in which each word that is not known is replaced by its shape. The known words are
 * those of usual error messages, the codes of the system and names of classes. The list is fixed, so
 * whatever a request holds, none of it is shown but such words.
 *
 * @example
 * knownWords('connect ECONNREFUSED 10.0.0.7:5432') // 'connect ECONNREFUSED token(13)'
 */
export function knownWords(text: string): string {
  if (text === '') return shapeOf(text)
  if (text.length <= MAX_EXAMINED) return text.split(/\s+/).map(showWord).join(' ')
  // The last word may be cut, and the rest of it may be a value.
  const words = text.slice(0, MAX_EXAMINED).split(/\s+/).slice(0, -1)
  return `${words.map(showWord).join(' ')}...`
}

function showWord(word: string): string {
  if (SIGNS.has(word)) return word
  const [, opening = '', core = '', closing = ''] = WORD.exec(word) ?? []
  return core.split('-').every(isKnown) ? word : `${opening}${shapeOf(core)}${closing}`
}

function isKnown(word: string): boolean {
  if (SYSTEM_CODES.has(word) || KNOWN_WORDS.has(word) || WELL_KNOWN.test(word)) return true
  return /^[A-Z][a-z']+$/.test(word) && KNOWN_WORDS.has(word.toLowerCase())
}
