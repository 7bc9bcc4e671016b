import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { pino } from 'pino'
import { HttpRequest, type Logger } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import { logLinesOf } from '../support/server-process.ts'

const token = 'Kq7xZ9vT2mWpL4sR8nBd6hJc'
const target = `/news/fail/id/${token}?dsh=${token}&continue=https%3A%2F%2Fa.example%2F%3Fcode%3D${token}`
const hostile = 'a\r\n{"level":50}\u001b[31m\u2028\u202e%s %j'

const news = {
  fail: (request: HttpRequest) => {
    throw new TypeError(`${hostile} ${request.target}`, { cause: request.param('dsh') })
  },
}

async function logErrors(logger: Logger): Promise<void> {
  const front = createFront({ news }, { logger })
  for (const each of [target, target, '/signin/v2?dsh=x', '/signin/v2?dsh=x']) {
    await front.handle(new HttpRequest({ target: each, headers: { cookie: `sid=${token}` } }))
  }
  front.flush()
}

describe('pino as a logger', () => {
  it('writes a line for each event, at the level and with the fields of the report', async () => {
    const stream = new PassThrough()
    await logErrors(pino({ base: null }, stream))
    stream.end()
    const text = Buffer.concat(await stream.toArray()).toString()
    assert.doesNotMatch(text, new RegExp(token.match(/.{8}/g)?.join('|') ?? token))
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)

    const lines = logLinesOf(text)
    assert.deepEqual(
      lines.map(({ level, event }) => [level, event]),
      [
        [50, 'error'],
        [50, 'error'],
        [40, 'error'],
        [40, 'errors'],
      ],
    )
    const { type, name, message, msg, controller, action, status, params, previous } = lines[0]
    const escaped = 'a\\u000d\\u000a{"level":50}\\u001b[31m\\u2028\\u202e%s %j '
    assert.match(message.slice(escaped.length), /^\/news\/fail\/.*\[\w+\].*\[\w+\]$/)
    assert.equal(message.slice(0, escaped.length), escaped)
    assert.equal(msg, message)
    assert.deepEqual(
      [type, name, controller, action, status],
      ['EXCEPTION_OTHER', 'TypeError', 'news', 'fail', 500],
    )
    assert.match(previous.message, /^\[\w+\]$/)
    assert.deepEqual(params, { id: 'token(24)', dsh: 'token(24)', continue: 'url?' })
    assert.deepEqual([lines[1].fingerprint, lines[1].type], [lines[0].fingerprint, undefined])
    assert.equal(lines[2].msg, 'Invalid controller specified (signin)')
    assert.deepEqual([lines[3].total, lines[3].msg], [1, '1 more error'])
  })
})

describe('pino with the level error', () => {
  it('writes no rejection, so their responses show no id', async () => {
    const stream = new PassThrough()
    const front = createFront({ news }, { logger: pino({ base: null, level: 'error' }, stream) })
    const instanceOf = async (target: string): Promise<unknown> =>
      JSON.parse(String((await front.handle(new HttpRequest({ target }))).body)).instance
    assert.equal(await instanceOf('/signin/v2'), undefined)
    const instance = await instanceOf('/news/fail')
    stream.end()
    const lines = logLinesOf(Buffer.concat(await stream.toArray()).toString())
    assert.deepEqual(
      lines.map(({ id }) => `urn:uuid:${id}`),
      [instance],
    )
  })
})

describe('console as a logger', () => {
  it('receives the same entries', async (t) => {
    const calls: unknown[] = []
    for (const level of ['info', 'warn', 'error'] as const) {
      t.mock.method(console, level, (...args: unknown[]) => calls.push(level, ...args))
    }
    await logErrors(console)
    const text = inspect(calls, { depth: null, maxStringLength: null })
    assert.doesNotMatch(text, new RegExp(token.match(/.{8}/g)?.join('|') ?? token))
    assert.deepEqual(
      calls.filter((each) => typeof each === 'string' && /^(info|warn|error)$/.test(each)),
      ['error', 'error', 'warn', 'warn'],
    )
  })
})
