import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { prettyFormat } from '../../lib/process/pretty-line.ts'
import {
  createLogger,
  Log,
  type LogLevel,
  type LogOptions,
  logLevels,
} from '../../lib/reporting/log.ts'

const TIME = '2024-05-06T07:08:09.010Z'

class Sink extends Writable {
  text = ''
  /** Completes the queued writes. */
  drain: (() => void) | undefined
  readonly #held: boolean

  constructor({ held = false } = {}) {
    super({ highWaterMark: 1 })
    this.#held = held
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk
    if (this.#held) this.drain = done
    else done()
  }

  get lines(): string[] {
    return this.text.split('\n').slice(0, -1)
  }

  get records(): Record<string, unknown>[] {
    return this.lines.map((line) => JSON.parse(line))
  }
}

function logging(t: TestContext, options: Partial<LogOptions> = {}): { log: Log; sink: Sink } {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(TIME) })
  const sink = new Sink()
  return { log: new Log({ stream: sink, ...options }), sink }
}

describe('Log, after a write that failed', () => {
  it('begins a new line, and writes how many lines were dropped', async () => {
    let written = ''
    let isFull = false
    // This stream works again after an error, as process.stdout does for a file.
    const stream = {
      writableLength: 0,
      destroyed: false,
      write(text: string, done: (error?: Error) => void = () => {}) {
        written += isFull ? text.slice(0, 9) : text
        process.nextTick(done, isFull ? new Error('ENOSPC') : undefined)
      },
    } as unknown as Writable
    const log = new Log({ stream, format: (_, { message }) => `${message}\n` })
    const info = async (message: string): Promise<void> => {
      log.info({}, message)
      await new Promise(setImmediate)
    }
    await info('before')
    isFull = true
    await info('lost one')
    assert.equal(log.isLevelEnabled('error'), false, 'no id of an error is shown')
    await info('lost two')
    isFull = false
    await info('after')
    assert.equal(log.isLevelEnabled('error'), true)
    assert.match(written, /^before\nlost one.*\n2 lines were dropped because [^\n]*\nafter\n$/s)
  })

  it('tries again, also if no line but an error has its level', async () => {
    const written: string[] = []
    let isFull = true
    const stream = {
      writableLength: 0,
      destroyed: false,
      write(text: string, done: (error?: Error) => void = () => {}) {
        if (!isFull) written.push(text.trim())
        process.nextTick(done, isFull ? new Error('ENOSPC') : undefined)
      },
    } as unknown as Writable
    const format = (_: LogLevel, { message }: Record<string, unknown>): string => `${message}\n`
    const log = new Log({ stream, level: 'error', format })
    log.error({ event: 'error' }, 'lost')
    await new Promise(setImmediate)
    assert.equal(log.isLevelEnabled('error'), false)
    await new Promise(setImmediate)
    isFull = false
    assert.equal(log.isLevelEnabled('error'), false)
    await new Promise(setImmediate)
    assert.equal(log.isLevelEnabled('error'), true)
    assert.deepEqual(written, ['1 lines were dropped because the output was blocked or failed'])
  })
})

describe('Log', () => {
  it('writes one line of JSON for each event: time, level, the fields, the message', (t) => {
    const { log, sink } = logging(t)
    log.info({ event: 'start', pid: 1 }, 'It listens')
    log.warn({ event: 'error', nested: { a: [null] } }, 'Not found')
    log.error({}, '')
    assert.deepEqual(sink.lines, [
      `{"time":"${TIME}","level":"info","event":"start","pid":1,"message":"It listens"}`,
      `{"time":"${TIME}","level":"warn","event":"error","nested":{"a":[null]},"message":"Not found"}`,
      `{"time":"${TIME}","level":"error","message":""}`,
    ])
  })

  it('writes nothing below its level', (t) => {
    const table: Record<LogLevel, string[]> = {
      info: ['info', 'warn', 'error'],
      warn: ['warn', 'error'],
      error: ['error'],
      silent: [],
    }
    assert.deepEqual(Object.keys(table), logLevels)
    for (const level of logLevels) {
      const { log, sink } = logging(t, { level })
      for (const each of ['info', 'warn', 'error'] as const) log[each]({}, 'x')
      assert.deepEqual(
        sink.records.map((record) => record.level),
        table[level],
      )
      t.mock.timers.reset()
    }
  })

  it('reports whether it would write a line of a level now', (t) => {
    const enabled = (log: Log): boolean[] =>
      (['info', 'warn', 'error'] as const).map((level) => log.isLevelEnabled(level))
    assert.deepEqual(enabled(new Log({ stream: new Sink() })), [true, true, true])
    assert.deepEqual(enabled(new Log({ stream: new Sink(), level: 'error' })), [false, false, true])
    assert.deepEqual(enabled(new Log({ stream: new Sink().destroy() })), [false, false, false])
    const { log } = logging(t, { stream: new Sink({ held: true }) })
    log.info({ long: 'x'.repeat(1_100_000) }, 'x')
    assert.deepEqual(enabled(log), [false, false, false])
  })

  it('has no control character in a line, whatever the fields hold', (t) => {
    const nasty = '\r\n\u001b[2J\0\u2028\u202e\u0085"\\'
    for (const options of [{}, { format: prettyFormat({ color: false }) }]) {
      const { log, sink } = logging(t, options)
      log.warn({ event: 'start', nasty, [nasty]: [nasty] }, nasty)
      assert.equal(sink.text.split('\n').length, 2)
      assert.doesNotMatch(sink.lines.join(''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      t.mock.timers.reset()
    }
  })

  it('removes the least important fields of a line that is too long', (t) => {
    const { log, sink } = logging(t)
    const long = 'x'.repeat(1_500)
    log.error({ id: '1', errors: [long], stack: [long], params: { a: 'url' }, previous: null }, 'm')
    const both = { errors: [{ message: 'm' }], params: { a: long }, stack: [long.slice(900)] }
    log.error({ id: '5', ...both }, 'm')
    log.error({ id: '2', stack: ['at a:1:1'], params: { a: long }, second: { m: long } }, 'm')
    log.error({ id: '3', stack: [long.slice(0, 1_800)], hint: 'h' }, 'm')
    log.error({ id: '4', other: long + long }, 'm')
    assert.deepEqual(
      sink.records.map(({ time, level, message, ...rest }) => [Object.keys(rest), rest.truncated]),
      [
        [['id', 'stack', 'previous', 'truncated'], true],
        [['id', 'errors', 'stack', 'truncated'], true],
        [['id', 'stack', 'second', 'truncated'], true],
        [['id', 'stack', 'hint'], undefined],
        [['id', 'other'], undefined],
      ],
    )
  })

  it('shortens the stacks of a line that is too long, and keeps the first frame of the application', (t) => {
    const { log, sink } = logging(t)
    const library = Array.from(
      { length: 7 },
      (_, i) => `f (/srv/node_modules/${'x'.repeat(250)}/a.js:${i}:1)`,
    )
    const stack = [...library, 'list (/srv/news.js:7:5)']
    const causeWith = (stack: readonly string[]) => {
      return { message: 'a', stack, previous: { message: 'b', stack } }
    }
    log.error({ id: '1', stack, params: { a: 'url' } }, 'm')
    log.error({ id: '2', stack, previous: causeWith(stack) }, 'm')
    log.error({ id: '3', stack: stack.slice(1), previous: ['a'], second: new Date(0) }, 'm')
    log.error({ id: '4', stack: ['one'], errors: [{ stack }, { stack: ['one'] }] }, 'm')
    assert.equal(stack.length, 8)
    assert.deepEqual(sink.records[2]?.previous, ['a'])
    assert.deepEqual(sink.records[3]?.errors, [
      { stack: [...stack.slice(0, 3), stack[7]] },
      { stack: ['one'] },
    ])
    const [first = '', own = ''] = [stack[0], stack[7]]
    assert.deepEqual(
      sink.records.slice(0, 2).map(({ stack, previous }) => [stack, previous]),
      [
        [[...stack.slice(0, 3), own], undefined],
        [[first, own], causeWith([first, own])],
      ],
    )
  })

  it('removes long parameters, and escapes 1 MB of controls', (t) => {
    const { log, sink } = logging(t)
    const long = '\u007f'.repeat(1_000_000)
    log.error({ errors: [], stack: [], previous: 1, hint: 'h', params: { long }, id: '1' }, 'm')
    log.error({ errors: [], stack: [], previous: 1, hint: 'h', id: '2', long }, 'm')
    const [removed, escaped] = sink.lines
    assert.match(
      removed ?? '',
      /"stack":\[\],"previous":1,"hint":"h","id":"1","message":"m","truncated":true}$/,
    )
    assert.ok(escaped?.includes(`"long":"${'\\u007f'.repeat(1_000_000)}"`))
  })

  it('drops lines while the output is blocked, and logs the count afterwards', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(TIME) })
    const sink = new Sink({ held: true })
    const log = new Log({ stream: sink })
    const half = { half: 'x'.repeat(700_000) }
    log.info(half, '1')
    log.info(half, '2')
    log.info({}, '3')
    log.info({}, '4')
    log.info({}, '5')
    assert.ok(sink.writableLength < 1_500_000)
    while (sink.writableLength > 0) {
      sink.drain?.()
      await new Promise(setImmediate)
    }
    log.info({}, '6')
    log.info({}, '7')
    while (sink.writableLength > 0) {
      sink.drain?.()
      await new Promise(setImmediate)
    }
    assert.deepEqual(
      sink.records.map(({ level, event, dropped, message }) => [level, event, dropped, message]),
      [
        ['info', undefined, undefined, '1'],
        ['info', undefined, undefined, '2'],
        ['warn', 'dropped', 3, '3 lines were dropped because the output was blocked or failed'],
        ['info', undefined, undefined, '6'],
        ['info', undefined, undefined, '7'],
      ],
    )
  })

  it('writes an error whose id a response shows, although the output is blocked since', (t) => {
    const sink = new Sink({ held: true })
    const log = new Log({ stream: sink })
    assert.ok(log.isLevelEnabled('error'))
    log.info({ text: 'x'.repeat(1_100_000) }, '1')
    assert.equal(log.isLevelEnabled('error'), false)
    const write = t.mock.method(sink, 'write')
    log.info({ event: 'access', id: 'ID' }, '2')
    assert.equal(write.mock.callCount(), 0)
    log.error({ event: 'error', id: 'ID' }, '3')
    assert.match(String(write.mock.calls.at(-1)?.arguments[0]), /"id":"ID","message":"3"/)
  })

  it('writes nothing to a destroyed stream', (t) => {
    const { log, sink } = logging(t)
    sink.on('error', assert.fail).destroy()
    const write = t.mock.method(sink, 'write')
    log.error({}, 'x')
    assert.equal(write.mock.callCount(), 0)
  })
})

describe('createLogger()', () => {
  it('writes NDJSON to a stream, from its level on', (t) => {
    const { sink } = logging(t)
    const logger = createLogger({ stream: sink, level: 'warn' })
    logger.info({}, 'a')
    logger.warn({ event: 'b' }, 'c')
    assert.deepEqual(sink.records, [{ time: TIME, level: 'warn', event: 'b', message: 'c' }])
  })
})
