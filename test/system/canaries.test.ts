import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { after, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import {
  channels,
  type ErrorReport,
  type FrontController,
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
  loadControllers,
} from '../../lib/index.ts'
import { logAccess } from '../../lib/process/access-log.ts'
import { prettyFormat } from '../../lib/process/pretty-line.ts'
import { Log } from '../../lib/reporting/log.ts'
import { subscribeToAll } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFolder } from '../support/folder.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, exchange, type RawRequest, send } from '../support/http.ts'
import { repositoryFile } from '../support/repository.ts'
import { logLinesOf, ServerProcess } from '../support/server-process.ts'
import { startServing } from '../support/serving.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const MIXED = `${LETTERS}${LETTERS.toUpperCase()}${DIGITS}`
const PIECE = 8
const urlEncoded = ['Content-Type', 'application/x-www-form-urlencoded'] as const

// The secret part of every canary. No output may contain any eight characters of it.
const planted = new Set<string>()

function core(seed: string, alphabet: string): string {
  const bytes = createHash('sha256').update(seed).digest().subarray(0, 24)
  const text = Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('')
  planted.add(text)
  return text
}

// The alphabets of real tokens: letters, digits, both, and characters that some format escapes.
const kinds: readonly ((seed: string) => string)[] = [
  (seed) => core(seed, LETTERS),
  (seed) => core(seed, DIGITS),
  (seed) => core(seed, MIXED),
  (seed) => `${core(seed, MIXED)}"<&%+/é'\n=${core(`${seed} too`, MIXED)}`,
  (seed) => `+${core(seed, DIGITS)}/=>é ${core(`${seed} too`, LETTERS)}`,
]

// Has enough digits to look different from a name.
function token(seed: string): string {
  return `${core(`${seed} 1`, MIXED)}0123-${core(seed, DIGITS)}`
}

/** A secret as the application sees it, in every encoding that an error may quote. */
interface Secret {
  readonly name: string
  readonly quotes: readonly string[]
}

const encode = encodeURIComponent
const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function encodingsOf(value: string): string[] {
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    value.replace(/[&<>"]/g, (character) => escapes[character] ?? '').replaceAll("'", '&#39;'),
    encode(value),
    new URLSearchParams([['', value]]).toString().slice(1),
  ]
}

const parameters = [
  ...['access_type', 'app_domain', 'client_id', 'ddm', 'dsh', 'flowEntry', 'flowName', 'o2v'],
  ...['rart', 'response_type', 'service', 'theme', 'code', 'state', 'access_token', 'id_token'],
  ...['client_secret', 'password', 'error', 'page'],
]

/** Creates a sign-in request with a canary in every part that can contain one. */
function plant(): {
  headers: readonly (readonly [string, string])[]
  search: string
  past: string
  secrets: Secret[]
} {
  const secrets: Secret[] = []
  const secret = (name: string, value: string, ...more: string[]): string => {
    secrets.push({ name, quotes: [...new Set([...encodingsOf(value), ...more])] })
    return value
  }
  let seeds = 0
  const canary = (name: string): string => {
    const kind = kinds[seeds++ % kinds.length] as (typeof kinds)[number]
    return kind(`${name} ${seeds}`)
  }
  const fields = parameters.map((name) => {
    const value = secret(name, canary(name))
    return `${name}=${encode(value)}`
  })
  // Encoded twice: the application decodes it once more.
  const twice = secret('signInUrl', canary('signInUrl'))
  fields.push(`signInUrl=${encode(encode(twice))}`)
  const provider = secret('provider', canary('provider'))
  const redirectUri = `https://app.example.com/elp/oauth.php?provider=${encode(provider)}`
  fields.push(`redirect_uri=${encode(secret('redirect_uri', redirectUri))}`)
  // A URL in a URL in a URL, with a fragment marker at the end.
  const deep = secret('deep', (kinds[3] ?? canary)('deep'))
  const nested = ['c', 'b', 'a'].reduce(
    (value, host) => `https://${host}.example.com/x?part=${encode(value)}&y=1#`,
    deep,
  )
  fields.push(`continue=${encode(secret('continue', nested))}`)
  const opparams = secret('opparams', canary('opparams'))
  fields.push(`opparams=${encode(encode(`?dsh=${encode(opparams)}`))}`)
  fields.push(`scope=${encode(secret('scope', `openid ${core('scope', LETTERS)}`))}`)
  // Numbers that the application reads, and items of lists.
  const digits = (name: string): string => core(name, '123456789').slice(0, 12)
  const [integer, decimal, exponent] = ['integer', 'decimal', 'exponent'].map(digits)
  const written = [`000${integer}`, `00${decimal}.500`, `${exponent?.[0]}.${exponent?.slice(1)}e11`]
  for (const [i, read] of [`${integer}`, `${decimal}.5`, `${exponent}`].entries()) {
    secrets.push({ name: 'number', quotes: [`${written[i]}`, read] })
    fields.push(`number${i}=${encode(`${written[i]}`)}`)
  }
  const items = [1, 2, 3, 4, 5].map((i) => secret('item', core(`item ${i}`, MIXED).slice(0, 10)))
  fields.push(`list=%20${items[0]}%20,+${items[1]}+;["${items[2]}",${items[3]}]|${items[4]}`)
  // A secret that starts with another secret.
  const session = secret('session', token('session'))
  const longer = secret('longer', `${session}${token('longer')}`)
  fields.push(`session=${session}`, `longer=${longer}`)
  // A token as a name: with a value, with an empty value, and without a value.
  const names = ['n1', 'n2', 'n3'].map((name) => secret('name', token(name)))
  fields.push(
    `${names[0]}=${encode(secret('value', canary('value')))}`,
    `${names[1]}=`,
    `${names[2]}`,
  )

  // A line break in a path is a 400, so these contain none.
  const pairs = ['id', token('key'), 'tag'].map((key) => {
    if (key.length > 3) secret('name', key)
    const value = secret('pair', canary(`pair ${key}`).replace('\n', ''))
    return `${key}/${encode(value)}`
  })
  const listed = [6, 7].map((i) => secret('item', core(`item ${i}`, MIXED).slice(0, 10)))
  pairs.push(`list/%20${listed[0]},${listed[1]}%20`)
  const amount = digits('amount')
  secrets.push({ name: 'number', quotes: [`000${amount}.0`, amount] })
  pairs.push(`amount/000${amount}.0`)
  const last = secret('path', canary('path').replace('\n', ''))
  const past = `${pairs.join('/')}/${encode(last)}`

  const basic = [token('user'), token('basic')]
  for (const value of basic) secret('authorization', value)
  const credentials = secret('authorization', Buffer.from(basic.join(':')).toString('base64'))
  const bearer = secret('proxy-authorization', token('bearer'))
  const cookies = ['sid', 'lsid'].map((name) => `${name}=${encode(secret('cookie', canary(name)))}`)
  const referrer = secret('referer', canary('referrer'))
  return {
    headers: [
      ['Authorization', `Basic ${credentials}`],
      ['Proxy-Authorization', `Bearer ${bearer}`],
      ['Cookie', cookies.join('; ')],
      ['Referer', `https://idp.example.com/a?b=1&code=${encode(referrer)}`],
    ],
    search: fields.join('&'),
    past,
    secrets: [
      ...secrets,
      { name: 'search', quotes: [fields.join('&'), `/news/raise/${past}?${fields.join('&')}`] },
      { name: 'headers', quotes: [cookies.join('; '), `Basic ${credentials}`] },
      // As in the target, encoded two and three times.
      { name: 'sent twice', quotes: [encode(encode(twice)), encode(encode(encode(twice)))] },
    ],
  }
}

const { headers: own, search, past, secrets } = plant()
const host = ['Host', 'app.example.com:8080'] as const
const proxied = [
  ['X-Forwarded-For', '203.0.113.77'],
  ['X-Forwarded-Proto', 'http'],
  ['X-Forwarded-Host', 'app.example.com'],
  ['X-Forwarded-Port', '8080'],
  ['X-Forwarded-Prefix', '/app'],
  ['Forwarded', 'for=203.0.113.77;host="app.example.com:8080";proto=http'],
] as const
const sent = [...own, ...proxied]
const form = new URLSearchParams([
  ['password', kinds[3]?.('form password') ?? ''],
  ['otp', kinds[1]?.('form otp') ?? ''],
  [token('form name'), ''],
])
for (const [name, value] of form) {
  // A name is a secret only if it does not look like a name.
  if (value !== '') secrets.push({ name, quotes: encodingsOf(value) })
}

let pieces: ReadonlySet<string> = new Set()

/** Fails if the text contains eight characters of a canary. */
function assertClean(text: string, what: string): void {
  if (pieces.size === 0) {
    pieces = new Set([...planted].flatMap((canary) => windows(canary)))
  }
  const at = windows(text).findIndex((window) => pieces.has(window))
  if (at >= 0)
    assert.fail(`${what}: a piece of a canary in ${text.slice(Math.max(0, at - 80), at + 80)}`)
}

function windows(text: string): string[] {
  const last = Math.max(text.length - PIECE + 1, 0)
  return Array.from({ length: last }, (_, i) => text.slice(i, i + PIECE))
}

/** A front controller, and everything that it writes to its log, its channels and `onReport`. */
interface Sinks {
  readonly front: FrontController
  readonly reports: readonly ErrorReport[]
  readonly log: Log
  /** Stops collecting, and returns everything, including the summary. */
  written(): string
}

function createSinks(controllers: object, options: FrontControllerOptions = {}): Sinks {
  const written: string[] = []
  const reports: ErrorReport[] = []
  const stream = new PassThrough().setEncoding('utf8').on('data', (chunk) => written.push(chunk))
  const log = new Log({ stream })
  const pretty = new Log({ stream, format: prettyFormat({ color: true }) })
  const collect = (message: unknown): void => {
    written.push(JSON.stringify(message), inspect(message, { depth: 20, maxStringLength: null }))
  }
  const end = subscribeToAll((_, message) => collect(message))
  const both = (level: 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    log[level](fields, message)
    pretty[level](fields, message)
  }
  const front = createFront(controllers, {
    ...options,
    logger: { info: both('info'), warn: both('warn'), error: both('error') },
    onReport(report) {
      reports.push(report)
      collect(report)
    },
  })
  return {
    front,
    reports,
    log,
    written() {
      front.flush()
      end()
      return written.join('\n')
    },
  }
}

const ACCEPTS = ['text/html', 'application/problem+json', 'text/plain'] as const

function requestOf(accept: string, headers: typeof own = sent): HttpRequest {
  return new HttpRequest({
    method: 'POST',
    target: `/news/raise/${past}?${search}`,
    headers: Object.fromEntries([...headers, host, ['accept', accept], urlEncoded]),
    body: form.toString(),
  })
}

// Each secret with each of its encodings, and each secret with one of them in turn.
const all = secrets.flatMap(({ name, quotes }) => quotes.map((quote) => ({ name, quote })))
const inTurn = secrets.map(({ name, quotes }, i) => ({
  name,
  quote: quotes[i % quotes.length] ?? '',
}))

type Raise = (quote: string) => unknown

// The parts of an error that may quote a secret, and the part of the report that contains the scrubbed text.
const parts: Record<string, [raise: Raise, scrubbed: (report: ErrorReport) => string | undefined]> =
  {
    message: [(quote) => new Error(`Failed on ${quote}`), ({ message }) => message],
    'thrown text': [(quote) => `Failed on ${quote}`, ({ message }) => message],
    'message of a 400': [
      (quote) => new HttpError(400, `Failed on ${quote}`),
      ({ message }) => message,
    ],
    'message of a 503': [
      (quote) => new HttpError(503, `Failed on ${quote}`),
      ({ message }) => message,
    ],
    cause: [
      (quote) => new Error('x', { cause: new Error('y', { cause: `Failed on ${quote}` }) }),
      ({ previous }) => previous?.previous?.message,
    ],
    errors: [
      (quote) => new AggregateError([new Error('x'), new Error(`Failed on ${quote}`)], 'x'),
      ({ errors }) => errors?.[1]?.message,
    ],
  }

describe('An error that quotes the request', () => {
  for (const [part, [raise, scrubbed]] of Object.entries(parts)) {
    it(`has the name of each value in place of the value: ${part}`, async () => {
      for (const { name, quote } of part.startsWith('message') ? all : inTurn) {
        const { reports, written, body } = await fail(() => raise(quote))
        assert.match(
          scrubbed(reports[0] as ErrorReport) ?? '',
          /^Failed on \S*\[[\w.-]+\]\S*$/,
          name,
        )
        assertClean(written + body, `${part}, ${name}`)
      }
    })
  }

  it('has the same report behind a proxy, with readable names, schemes and hosts', async () => {
    const text = 'HttpError: GET http://app.example.com:8080/app is true'
    for (const headers of [own, sent]) {
      for (const { name, quote } of inTurn) {
        const { raise } = raising(() => new HttpError(400, `${text}: ${quote}`))
        const { front, reports, written } = createSinks({ news: { raise } })
        const response = await front.handle(requestOf('text/plain', headers))
        const [report] = reports
        assert.equal(report?.name, 'HttpError')
        assert.equal(report?.message.startsWith(`${text}: `), true, report?.message)
        assert.match(report?.message ?? '', /: \S*\[[\w.-]+\]/, name)
        assertClean(`${written()}${response.body}`, `behind a proxy, ${name}`)
      }
    }
  })

  it('has no number that was read in a value as its code', async () => {
    for (const { quotes } of secrets.filter(({ name }) => name === 'number')) {
      for (const code of [Number(quotes.at(-1)), `${quotes.at(-1)}`]) {
        const { written, body } = await fail(() => Object.assign(new Error('x'), { code }))
        assertClean(written + body, `code ${code}`)
      }
    }
  })

  it('keeps the frames of its stack without the quotes', async () => {
    for (const { name, quote } of inTurn) {
      const error = new Error('x')
      error.stack = `Error: ${quote}\n    at f (${quote}:1:1)\n    at g (file:///app/news.js:2:2)`
      const { reports, written, body } = await fail(() => error, 'text/html')
      assert.equal(reports[0]?.stack?.at(-1), 'g (file:///app/news.js:2:2)')
      assertClean(written + body, `stack, ${name}`)
    }
  })

  it('has a shape in place of a name or a code that is a value', async () => {
    for (const { name, quote } of inTurn) {
      const error = Object.assign(new Error('x', { cause: { name: quote } }), {
        name: quote,
        code: quote,
      })
      const { reports, written, body } = await fail(() => error, 'text/html')
      assert.match(reports[0]?.name ?? '', /^(digits|word|token|text|list)\(\d+\)$|^url\??$/)
      assertClean(written + body, `name and code, ${name}`)
    }
  })

  it('has no snippet of a text that JSON.parse() rejects', async () => {
    for (const { quotes } of secrets) {
      for (const text of [quotes[0], `${quotes[0]}`.slice(1), `{"a":1,"b":${quotes[0]}}`]) {
        const { reports, written, body } = await fail(() => errorOf(() => JSON.parse(`${text}`)))
        assert.equal(reports.length, 1)
        assertClean(written + body, `JSON.parse() of ${text}`)
      }
    }
  })

  it('reveals no value in a second error', async () => {
    for (const { name, quote } of inTurn) {
      const second = (): never => {
        throw new Error(`Again on ${quote}`, { cause: quote })
      }
      const { raise } = raising(() => new Error(`Failed on ${quote}`))
      const { front, reports, written } = createSinks({ news: { raise }, error: { error: second } })
      const response = await front.handle(requestOf('text/html'))
      assert.equal(response.body, 'Internal Server Error\n')
      // The longest quotes exceed the limit of the search: a shape then replaces the whole message.
      assert.match(reports[0]?.second?.message ?? '', /^(?:Again on .*)?\[/, name)
      assertClean(written(), `second error, ${name}`)
    }
  })

  it('shows no more on the development page than in the report', async () => {
    for (const { name, quotes } of secrets) {
      const error = new Error(`Failed on ${quotes[0]}`, { cause: quotes[0] })
      const { body } = await fail(() => error, 'text/html', true)
      assert.match(body, /<small>EXCEPTION_OTHER/)
      assert.match(body, /Failed on \S*\[[\w.-]+\]/)
      assertClean(body, `development page, ${name}`)
    }
  })
})

interface Failure {
  readonly reports: readonly ErrorReport[]
  readonly written: string
  readonly body: string
}

async function fail(raise: () => unknown, accept = '*/*', development = false): Promise<Failure> {
  const { front, reports, written } = createSinks({ news: raising(raise) }, { development })
  const response = await front.handle(requestOf(accept))
  const headers = [...response.headers].flat(2).join('\n')
  return { reports, written: written() + headers, body: String(response.body) }
}

function raising(raise: () => unknown): { raise: () => never } {
  return {
    raise() {
      throw raise()
    },
  }
}

function errorOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

// Controllers whose errors quote the request in each encoding.
const quoting = `
import { HttpError } from ${JSON.stringify(pathToFileURL(repositoryFile('dist/lib/index.js')).href)}
const html = (text) => text.replace(/[&<>"']/g, (each) => '&#' + each.charCodeAt(0) + ';')
const values = ({ params, query, headers, target, q }) =>
  [...[...params].map(([, value]) => value), ...query.keys(), target, q, headers.authorization,
    headers['proxy-authorization'], headers.cookie, headers.referer]
    .filter((value) => typeof value === 'string' && value.length > 7)
const list = (request, write = (value) => value) => values(request).map(write).join(' ')
export function raw(request) { throw new Error(list(request)) }
export function encoded(request) { throw new TypeError(list(request, encodeURIComponent)) }
export function escaped(request) { throw new Error(list(request, (value) => JSON.stringify(value))) }
export function stack(request) {
  throw Object.assign(new Error('x'), { stack: list(request) + '\\n    at ' + list(request) + ':1:1' })
}
export function cause(request) { throw new Error('x', { cause: new Error(list(request), { cause: list(request) }) }) }
export function errors(request) { throw new AggregateError([new Error(list(request)), list(request)], list(request)) }
export function deny(request) { throw new HttpError(400, list(request)) }
export function unavailable(request) { throw new HttpError(503, list(request), { cause: new Error(list(request)) }) }
export function parse(request) { JSON.parse(request.param('dsh') + request.target) }
export function put() {}
put.methods = ['PUT']
export function crash(request, response) {
  setTimeout(() => { throw new Error('Crashed with ' + list(request), { cause: 'of ' + list(request) }) })
  response.text('ok')
}
export function reject(request, response) {
  setTimeout(() => { Promise.reject(new AggregateError([new Error('of ' + list(request))], 'on ' + list(request))) })
  response.text('ok')
}
`
const raises = [
  ...['raw', 'encoded', 'escaped', 'stack', 'cause', 'errors', 'deny', 'unavailable', 'parse'],
  'put',
]

describe('A server', () => {
  const folder = createFolder({ after }, { 'news.mjs': quoting })
  const again = 'throw new Error(request.target, { cause: request.headers.cookie })'
  const broken = createFolder(
    { after },
    { 'news.mjs': quoting, 'error.mjs': `export function error(request) { ${again} }` },
  )

  const rest = `${past}?${search}`
  const large = `${form}&x=${'x'.repeat(1_100_000)}`
  const table: [target: string, status: number, request?: Partial<RawRequest>][] = [
    [`/signin/v2/${rest}`, 404],
    [`/lifecycle/flows/${rest}`, 404, { method: 'GET', body: '', headers: sent }],
    [`/news/nothing/${rest}`, 404],
    [`/news/raw/%00/x/${rest}`, 400],
    [`/news/bad/x/%ff/${rest}`, 400],
    [`/large/form/${rest}`, 413, { body: large }],
    [
      `/other/form/${rest}`,
      415,
      { headers: [...sent, [urlEncoded[0], `${urlEncoded[1]};charset=x`]] },
    ],
    ...raises.map((action): [string, number] => [
      `/news/${action}/${rest}`,
      action === 'put' ? 405 : action === 'deny' ? 400 : action === 'unavailable' ? 503 : 500,
    ]),
  ]

  for (const env of ['production', 'development']) {
    it(`writes no value anywhere in ${env}`, async (t) => {
      const args = ['--port', '0', '--controllers', folder, '--env', env, '--access-log']
      const server = new ServerProcess(t, args)
      const port = await server.port()
      for (const accept of ACCEPTS) {
        for (const [target, status, request] of table) {
          const headers = [
            ...(request?.headers ?? [...sent, urlEncoded]),
            ['Accept', accept],
          ] as const
          const post = { method: 'POST', target, body: form.toString(), ...request, headers }
          const response = await exchange(port, post as RawRequest)
          const what = target.split('/', 3).join('/')
          assert.equal(response.status, status, what)
          assertClean(response.rawHeaders + response.body, `${what}, ${accept}`)
        }
      }
      server.child.kill('SIGTERM')
      const { code, stdout, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
      assertClean(stdout, 'stdout')
      const lines = logLinesOf(stdout)
      const count = (event: string): number => lines.filter((line) => line.event === event).length
      const requests = 3 * table.length
      const rejections = table.filter(([, status]) => status < 500).length
      // The log counts the second and third rejection of a kind, but not in development.
      const counted = env === 'production' ? 2 * rejections : 0
      assert.deepEqual(
        [count('start'), count('error'), count('access'), count('stop')],
        [1, requests - counted, requests, 1],
      )
      assert.equal(lines.find(({ event }) => event === 'errors')?.total ?? 0, counted)
    })
  }

  it('logs only the code of what the parser rejects', async (t) => {
    const server = new ServerProcess(t, ['--port', '0', '--controllers', folder])
    const port = await server.port()
    const good = bytesOf({ target: `/news/raw/${rest}`, headers: sent })
    const rejected: [bytes: string, status: number][] = [
      [good.replace('Host:', 'Host'), 400],
      [good.replace('\r\n\r\n', `\r\nX: ${past.repeat(200)}\r\n\r\n`), 431],
      [`${past} ${good}`, 400],
    ]
    for (const [bytes, status] of rejected) {
      const response = await send(port, bytes)
      assert.match(response, new RegExp(`^HTTP/1.1 ${status} `))
      assertClean(response, `${status}`)
    }
    server.child.kill('SIGTERM')
    const { stdout, stderr } = await server.ended
    assertClean(stdout + stderr, 'stdout and stderr')
    const lines = logLinesOf(stdout)
    const full = lines.filter(({ event }) => event === 'error').length
    const counted = lines.find(({ event }) => event === 'errors')?.total ?? 0
    assert.equal(full + counted, rejected.length)
  })

  it('writes no value on a second error', async (t) => {
    const server = new ServerProcess(t, ['--port', '0', '--controllers', broken])
    const port = await server.port()
    for (const action of raises) {
      const request = { target: `/news/${action}/${rest}`, headers: sent }
      const response = await exchange(port, request)
      assert.deepEqual([response.status, response.body], [500, 'Internal Server Error\n'])
      assertClean(response.rawHeaders, action)
    }
    server.child.kill('SIGTERM')
    const { stdout, stderr } = await server.ended
    assertClean(stdout + stderr, 'stdout and stderr')
    assert.equal(stdout.match(/"second":/g)?.length, raises.length)
  })

  for (const action of ['crash', 'reject']) {
    it(`writes no value when it ends by a ${action}`, async (t) => {
      const server = new ServerProcess(t, ['--port', '0', '--controllers', folder])
      const port = await server.port()
      await exchange(port, { target: `/news/${action}/${rest}`, headers: sent })
      const { code, stdout, stderr } = await server.ended
      assert.deepEqual([code, stderr], [1, ''])
      assertClean(stdout, 'stdout')
      const events = logLinesOf(stdout).map(({ event }) => event)
      assert.deepEqual(events, ['start', 'error', 'stop'])
    })
  }

  it('writes no value when the action takes too long, or the client has closed the connection', async (t) => {
    const loaded = await loadControllers(folder)
    const news = { ...loaded.controllers.get('news') } as { raw?: (request: HttpRequest) => void }
    const started = deferred()
    const hang = async (request: HttpRequest): Promise<void> => {
      await once(request.signal, 'abort')
      news.raw?.(request)
    }
    const leave = (request: HttpRequest): Promise<void> => {
      started.resolve()
      return hang(request)
    }
    const reported = deferred()
    const limits = { actionTimeoutMs: 50 }
    const controllers = { slow: { hang }, client: { leave } }
    const { front, reports, log, written } = createSinks(controllers, { limits })
    const unlimited = createSinks({ client: { leave } })
    const onAccess = logAccess.bind(undefined, log)
    const service = await startServing(t, front, { onAccess })
    const other = await startServing(t, unlimited.front, { onAccess })

    for (const accept of ACCEPTS) {
      const headers = [...sent, ['Accept', accept] as const]
      const request = { target: `/slow/hang/${rest}`, headers }
      const response = await exchange(service.port, request)
      assert.equal(response.status, 503)
      assertClean(response.rawHeaders + response.body, accept)
    }
    const leaving = (message: unknown): void => {
      if ((message as ErrorReport).action === 'leave') reported.resolve()
    }
    channels.report.subscribe(leaving)
    t.after(() => channels.report.unsubscribe(leaving))
    const socket = connect(other.port, '127.0.0.1')
    socket.write(bytesOf({ target: `/client/leave/${rest}`, headers: sent }))
    await started.promise
    socket.destroy()
    await reported.promise
    assert.equal(reports.length, 3)
    assertClean(written() + unlimited.written(), 'log, onReport and channels')
  })
})
