import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { HttpRequest } from '../../lib/index.ts'
import { logAccess } from '../../lib/process/access-log.ts'
import { prettyFormat } from '../../lib/process/pretty-line.ts'
import { Log } from '../../lib/reporting/log.ts'
import { createFront } from '../support/front.ts'
import { exchange, send } from '../support/http.ts'
import { ServerProcess } from '../support/server-process.ts'

const forged = '{"level":"info","event":"forged"}'
const hostile: Record<string, string> = {
  'a line break': `\n${forged}\n`,
  'CR and LF': `\r\n${forged}\r\n`,
  'a line separator': `\u2028${forged}\u2029`,
  'ANSI colours': '\u001b[31;1mred\u001b[0m',
  'a cleared screen': '\u001b[2J\u001b[H\u001b]0;title\u0007',
  'a C1 introducer': '\u009b31m',
  'a bidi override': 'abc\u202edcba\u2066x\u2069',
  'zero widths': 'a\u200bb\u200d\ufeffc',
  'a tag character': 'a\u{e0041}b',
  NUL: 'a\u0000b',
  'a backspace': 'abc\b\b\bxyz\u007f',
  'a lone surrogate': 'a\ud800b',
  quotes: `","level":"info","event":"forged","x":"\\"'`,
  'a percent sign': '%s %j %o %c',
  '10 kB': 'x'.repeat(10_240),
  '10 kB of three bytes each': '\u20ac'.repeat(10_240),
  '10 kB of line breaks': '\n'.repeat(10_240),
  '10 kB of quotes': '"'.repeat(10_240),
}

const NOT_PRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
const COLORS = /\u001b\[(?:2|36|33|31|0)m/g
const encode = (text: string): string => encodeURIComponent(text.toWellFormed())
const urlEncoded = { 'Content-Type': 'application/x-www-form-urlencoded' }

// The ways in which such text enters a request or an error. The log shows the value of the parameter `page`.
const ways: Record<string, (text: string) => [request: HttpRequest, raised?: unknown]> = {
  'the path': (text) => [new HttpRequest({ target: `/news/${text}` })],
  'the encoded path': (text) => [new HttpRequest({ target: `/${encode(text)}/list` })],
  'a pair of the path': (text) => [
    new HttpRequest({ target: `/nothing/at/all/${encode(text)}/${encode(text)}` }),
  ],
  "a parameter's name": (text) => [new HttpRequest({ target: `/nothing?${encode(text)}=1` })],
  'a logged value': (text) => [new HttpRequest({ target: `/nothing?page=${encode(text)}` })],
  'a form': (text) => [
    new HttpRequest({
      method: 'POST',
      target: '/nothing',
      headers: urlEncoded,
      body: `page=${encode(text)}&${encode(text)}=`,
    }),
  ],
  'the query string, raw': (text) => [new HttpRequest({ target: `/nothing?${text}&page=${text}` })],
  'a message': (text) => [listRequest(), new Error(text)],
  'thrown text': (text) => [listRequest(), text],
  'a name and a code': (text) => [
    listRequest(),
    Object.assign(new Error('x'), { name: text, code: text }),
  ],
  'a stack': (text) => [
    listRequest(),
    Object.assign(new Error('x'), { stack: `Error: x\n    at ${text} (${text}:1:1)` }),
  ],
  'causes and errors': (text) => [
    listRequest(),
    new AggregateError([new Error(text), text], text, { cause: new Error(text, { cause: text }) }),
  ],
}

function listRequest(): HttpRequest {
  return new HttpRequest({ target: '/news/list' })
}

describe('A line of the log', () => {
  for (const [way, make] of Object.entries(ways)) {
    for (const pretty of [false, true]) {
      it(`stays one line for every text in ${way}${pretty ? ', on a terminal too' : ''}`, async () => {
        for (const [what, text] of Object.entries(hostile)) {
          const [request, raised] = make(text)
          const lines = await logged(request, raised, pretty)
          // One for the error, and one for the access.
          assert.equal(lines.length, 2, what)
          for (const line of lines) assertHarmless(line, pretty, what)
        }
      })
    }
  }

  it('escapes the text, and JSON.parse() returns the escaped text', async () => {
    const text = 'a\nb\u001b[2J\u202e"c'
    const escaped = 'a\\u000ab\\u001b[2J\\u202e"c'
    const [line = ''] = await logged(listRequest(), new Error(text), false)
    assert.equal(JSON.parse(line).message, escaped)
    const [pretty = ''] = await logged(listRequest(), new Error(text), true)
    assert.ok(pretty.includes(` 500 GET default/news/list ${escaped} `), pretty)
  })

  it('is harmless on the stdout of a server', async (t) => {
    const args = ['--port', '0', '--access-log', '--log-params', 'page']
    const server = new ServerProcess(t, args)
    const port = await server.port()
    let requests = 0
    for (const text of Object.values(hostile)) {
      const short = encode(text.slice(0, 700))
      for (const target of [`/${short}`, `/x/${short}`, `/x?page=${short}`, `/x?${short}=1`]) {
        const { status } = await exchange(port, { target })
        assert.ok(status === 404 || status === 400, `${status}`)
        requests++
      }
    }
    // Bytes that no regular client sends.
    for (const bytes of [
      '/\u001b[31m',
      '/a\u0080\u009bb',
      `/"${forged}`,
      '/a\u202eb?page=\u2028',
    ]) {
      await send(port, Buffer.from(`GET ${bytes} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`))
    }
    server.child.kill('SIGTERM')
    const { stdout, stderr } = await server.ended
    assert.equal(stderr, '')
    const lines = stdout.split('\n')
    assert.equal(lines.pop(), '')
    for (const line of lines) assertHarmless(line, false, 'stdout')
    assert.ok(lines.length > requests)
  })

  it('is harmless for bytes that are no request', async (t) => {
    const server = new ServerProcess(t, ['--port', '0'])
    const socket = connect(await server.port(), '127.0.0.1').on('error', () => {})
    socket.end(`\u001b]0;${forged}\r\n\r\n`)
    await new Promise((resolve) => socket.resume().on('close', resolve))
    server.child.kill('SIGTERM')
    const { stdout } = await server.ended
    for (const line of stdout.trim().split('\n')) assertHarmless(line, false, 'stdout')
    assert.doesNotMatch(stdout, /forged/)
  })
})

async function logged(request: HttpRequest, raised: unknown, pretty: boolean): Promise<string[]> {
  const stream = new PassThrough().setEncoding('utf8')
  const logger = new Log({ stream, format: pretty ? prettyFormat({ color: true }) : undefined })
  const list = (): never => {
    throw raised
  }
  const news = raised === undefined ? {} : { list }
  const onReport = (report: object): void => assertPrintable(report)
  const front = createFront({ news }, { logger, onReport, logParams: ['page'] })
  const response = await front.handle(request)
  logAccess(logger, { method: request.method, response, route: null, bytes: 0, durationMs: 1 })
  stream.end()
  const lines = (await stream.toArray()).join('').split('\n')
  assert.equal(lines.pop(), '')
  return lines
}

// A report is printable by itself: another logger may escape less than this one.
function assertPrintable(value: unknown): void {
  if (typeof value === 'string') assert.doesNotMatch(value, NOT_PRINTABLE)
  else if (Object(value) === value)
    Object.entries(value as object)
      .flat()
      .forEach(assertPrintable)
}

function assertHarmless(line: string, pretty: boolean, what: string): void {
  const text = pretty ? line.replace(COLORS, '') : line
  const [found = ''] = NOT_PRINTABLE.exec(text) ?? []
  assert.equal(found, '', `${what}: U+${found.codePointAt(0)?.toString(16)} in ${line}`)
  if (pretty) {
    assert.match(text, /^\d\d:\d\d:\d\d (info|warn|error) +\d{3} [A-Z]+ /)
  } else {
    assert.ok(Buffer.byteLength(line) < 2_000, `${what}: ${Buffer.byteLength(line)} bytes`)
    assert.ok(['start', 'stop', 'error', 'errors', 'access'].includes(JSON.parse(line).event), line)
  }
}
