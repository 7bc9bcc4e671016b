import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import {
  ClientGoneError,
  HttpError,
  MalformedMessageError,
  NoControllerError,
} from '../../lib/http/errors.ts'
import { HttpRequest, withState } from '../../lib/http/request.ts'
import type { ErrorReport } from '../../lib/reporting/error-report.ts'
import { createLogger } from '../../lib/reporting/log.ts'
import { Reporter, type ReporterOptions } from '../../lib/reporting/reporter.ts'
import { collectReports } from '../support/collectors.ts'

const MINUTE_MS = 60_000

type Line = [level: string, fields: Record<string, unknown>, message: string]

// A logger that collects its lines.
function logging(): { lines: Line[]; logger: NonNullable<ReporterOptions['logger']> } {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (fields: object, message: string): void => {
      lines.push([level, fields as Record<string, unknown>, message])
    }
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } }
}

function reporting(t: TestContext, options: Partial<ReporterOptions> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { lines, logger } = logging()
  const reporter = new Reporter({
    logger,
    onReport: undefined,
    logParams: new Set(),
    development: false,
    ...options,
  })
  const report = (error: Error, status = 500, request?: HttpRequest): void =>
    reporter.report({ exceptions: [error], status, request })
  return { reporter, report, lines }
}

function requestOf(controller: string): HttpRequest {
  const path = `/${controller}/x`
  const route = { module: 'default', controller, action: 'x' }
  return withState(new HttpRequest({ target: path }), { path, route })
}

const summary = (total: number, kinds: Record<string, number>): Line => [
  'warn',
  { event: 'errors', total, kinds },
  `${total} more error${total === 1 ? '' : 's'}`,
]

describe('Reporter.report()', () => {
  it('logs a 5xx as an error, a rejection as a warning', (t) => {
    const { report, lines } = reporting(t)
    report(new Error('boom'), 500)
    report(new HttpError(499, 'rejected'), 499)
    report(new HttpError(503, 'later', { code: 'x' }), 503)
    assert.deepEqual(
      lines.map(([level, { event, status, type }, message]) => [
        level,
        event,
        status,
        type,
        message,
      ]),
      [
        ['error', 'error', 500, 'EXCEPTION_OTHER', 'word(4)'],
        ['warn', 'error', 499, 'EXCEPTION_OTHER', 'rejected'],
        ['error', 'error', 503, 'EXCEPTION_OTHER', 'word(5)'],
      ],
    )
    const [, fields = {}] = lines[0] ?? []
    assert.match(String(fields.id), /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    // The logger has a time of its own.
    assert.equal('time' in fields, false)
  })

  it('logs the id that the client was sent', (t) => {
    const { report, lines } = reporting(t)
    const request = new HttpRequest({ target: '/x?dsh=c4n4ry' })
    report(new Error('not c4n4ry'), 500, request)
    const [, fields, message] = lines[0] ?? []
    assert.deepEqual([fields?.id, message], [request.id, 'not [dsh]'])
  })

  it('logs the first of a kind, and counts the others to a summary a minute', (t) => {
    const { report, lines } = reporting(t)
    for (let i = 0; i < 10_000; i++) report(new NoControllerError('x'), 404)
    assert.equal(lines.length, 1)
    t.mock.timers.tick(MINUTE_MS - 1)
    assert.equal(lines.length, 1)
    t.mock.timers.tick(1)
    const kind = 'EXCEPTION_NO_CONTROLLER NoControllerError 404'
    assert.deepEqual(lines.slice(1), [summary(9_999, { [kind]: 9_999 })])
    t.mock.timers.tick(10 * MINUTE_MS)
    assert.equal(lines.length, 2)

    report(new NoControllerError('x'), 404)
    t.mock.timers.tick(MINUTE_MS)
    assert.deepEqual(lines.slice(2), [summary(1, { [kind]: 1 })])
  })

  it('ends the message of a short line with that of the innermost cause', (t) => {
    const { report, lines } = reporting(t)
    const request = new HttpRequest({ target: '/?dsh=c4n4ry' })
    const refused = new AggregateError([new Error('port 80 of c4n4ry refused')])
    const cause = new Error('No connection', { cause: refused })
    for (const error of [
      new TypeError('fetch failed', { cause }),
      refused,
      new Error('Failed: port 80 of c4n4ry refused', { cause }),
      new Error('No cause'),
      new TypeError('f'.repeat(300), { cause: new Error('r'.repeat(300)) }),
    ]) {
      for (let i = 0; i < 2; i++) report(error, 500, request)
    }
    assert.deepEqual(
      lines.flatMap(([, { stack }, message]) => (stack === undefined ? [message] : [])),
      [
        'fetch failed: port 80 of [dsh] refused',
        'port 80 of [dsh] refused',
        'Failed: port 80 of [dsh] refused',
        'No cause',
        `${'f'.repeat(250)}...${'r'.repeat(147)}`,
      ],
    )
  })

  it('logs the first fault of a fingerprint in a minute in full, and the others as short lines', (t) => {
    const { report, lines } = reporting(t)
    const request = new HttpRequest({ target: '/index/list?dsh=c4n4ry' }).forward({
      action: 'list',
    })
    const fail = (): void => report(new TypeError('not c4n4ry'), 500, request)
    for (let i = 0; i < 3; i++) fail()
    const [full = {}, ...short] = lines.map(([, fields]) => fields)
    assert.ok(Array.isArray(full.stack))
    const expected = {
      event: 'error',
      id: request.id,
      fingerprint: full.fingerprint,
      status: 500,
      method: 'GET',
      module: 'default',
      controller: 'index',
      action: 'list',
      route: null,
      message: 'not [dsh]',
    }
    assert.deepEqual(short, [expected, expected])
    assert.match(
      String(full.fingerprint),
      /^EXCEPTION_OTHER TypeError reporter\.test\.js:\d+:\d+ index\/list$/,
    )
    t.mock.timers.tick(MINUTE_MS)
    fail()
    assert.ok(Array.isArray(lines.at(-1)?.[1].stack))
  })

  it('keeps the kinds of counted faults in a summary, although a scanner sends long names', (t) => {
    const lines: string[] = []
    const stream = new Writable({
      decodeStrings: false,
      write: (line, _, done) => done(void lines.push(line)),
    })
    const { report } = reporting(t, { logger: createLogger({ stream }) })
    for (let i = 0; i < 700; i++) report(new Error('boom'))
    for (let i = 0; i < 300; i++)
      report(
        new HttpError(404, 'no'),
        404,
        requestOf(`${'the-quick-brown-fox-'.repeat(3)}${'ab'[i % 2]}${'cdefghi'[i % 7]}`),
      )
    t.mock.timers.tick(MINUTE_MS)
    const { event, kinds = {} } = JSON.parse(lines.at(-1) ?? '{}')
    assert.equal(event, 'errors')
    assert.match(Object.keys(kinds)[0] ?? '', /^EXCEPTION_OTHER Error reporter/)
  })

  it('logs 600 lines of faults a minute, then counts them, and logs another bug nevertheless', (t) => {
    const { report, lines } = reporting(t)
    for (let i = 0; i < 1_000; i++) report(new Error('boom'))
    assert.equal(lines.length, 600)
    for (let i = 0; i < 2; i++) report(new Error('another'))
    const fingerprints = lines.slice(599).map(([, fields]) => fields.fingerprint)
    assert.equal(new Set(fingerprints).size, 2)
    assert.equal(lines.length, 601)
    t.mock.timers.tick(MINUTE_MS)
    const { total, kinds } = lines.at(-1)?.[1] ?? {}
    assert.deepEqual([total, Object.values(kinds ?? {})], [401, [400, 1]])
  })

  it('logs every error in full in development', (t) => {
    const { report, reporter, lines } = reporting(t, { development: true })
    for (let i = 0; i < 1_000; i++) report(new Error('boom'))
    for (let i = 0; i < 1_000; i++) report(new NoControllerError('x'), 404)
    reporter.flush()
    assert.equal(lines.length, 2_000)
    assert.ok(lines.slice(0, 1_000).every(([, { stack }]) => Array.isArray(stack)))
  })

  it('keeps a budget for faults, whatever scanners use up', (t) => {
    const { reporter, report, lines } = reporting(t)
    for (let i = 0; i < 10_000; i++) report(new NoControllerError('x'), 404, requestOf(`scan-${i}`))
    assert.equal(lines.length, 80)
    report(new Error('boom'), 500, requestOf('news'))
    assert.equal(lines.at(-1)?.[2], 'boom')
    reporter.flush()
    assert.deepEqual([lines.length, lines.at(-1)?.[1].total], [82, 9_920])
  })

  it('counts tokens of all lengths as one kind', (t) => {
    const tokens = ['0AfJohXkq9TzB3mWcR7Lp', '0BxKpiYlr8UaC4nXdS6Mq', '0BxKpiYlr8UaC4nXdS6Mq7']
    const { report, lines } = reporting(t)
    for (const controller of tokens) {
      const request = requestOf(controller)
      for (const status of [404, 500]) report(new NoControllerError(controller), status, request)
    }
    // A short line has no type.
    assert.deepEqual(
      lines.map(([, { status, type }]) => [status, type !== undefined]),
      [
        [404, true],
        [500, true],
        [500, false],
        [500, false],
      ],
    )
  })

  it('calls onReport for every error, including those that are only counted', (t) => {
    const reports: ErrorReport[] = []
    const { report, lines } = reporting(t, { onReport: (each) => void reports.push(each) })
    for (let i = 0; i < 5; i++) report(new Error(`boom${i}`), 400)
    assert.equal(lines.length, 1)
    assert.deepEqual(
      reports.map(({ message }) => message),
      Array(5).fill('token(5)'),
    )
    assert.match(reports[0]?.time ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })

  it('works without a logger, and without any observer', (t) => {
    const reports: ErrorReport[] = []
    const onReport = (each: ErrorReport): void => void reports.push(each)
    const { reporter, report } = reporting(t, { logger: undefined, onReport })
    report(new Error('boom'))
    report(new Error('boom'))
    reporter.flush()
    assert.equal(reports.length, 2)
    const unread = Object.defineProperty(new Error('x'), 'cause', { get: () => assert.fail() })
    const silent = reporting.bind(undefined, { mock: { timers: { enable() {} } } } as never)
    assert.doesNotThrow(() => silent({ logger: undefined }).report(unread))
  })

  it('logs an observer that throws once, and takes no line of a fault for it', (t) => {
    const { report, lines } = reporting(t, {
      onReport() {
        throw new TypeError('c4n4ry')
      },
    })
    report(new NoControllerError('x'), 404)
    const [level, { event, name, stack } = {}, message = ''] = lines.at(-1) ?? []
    assert.deepEqual([level, event, name], ['error', 'observer', 'TypeError'])
    assert.equal(message, 'An observer of errors failed: token(6)')
    assert.match(String(stack), /reporter\.test\.js:\d+:\d+/)
    for (let i = 0; i < 1_000; i++) report(new NoControllerError('x'), 404)
    assert.equal(lines.length, 2)
    for (let i = 0; i < 10; i++) report(new Error('boom'))
    assert.deepEqual(
      lines.slice(2).map(([, fields]) => fields.event),
      Array(10).fill('error'),
    )
    assert.doesNotMatch(JSON.stringify(lines), /c4n4ry/)
  })

  it('passes a report on although the logger throws', (t) => {
    const { reports, onReport } = collectReports()
    const { logger } = logging()
    const { report } = reporting(t, {
      onReport,
      logger: {
        ...logger,
        warn() {
          throw new Error('no disk')
        },
      },
    })
    report(new NoControllerError('x'), 404)
    assert.equal(reports.length, 1)
  })

  it('leaves no part of a request as the last match of an expression', (t) => {
    const { report } = reporting(t)
    const target = '/nope/c4n4ry?code=c4n4ry'
    for (const [i, status] of [500, 404, 501].entries()) {
      report(new HttpError(status), status, new HttpRequest({ target: `${target}${i}` }))
      assert.equal(RegExp.$_, '')
    }
  })

  it('reports nothing about a client that went away', (t) => {
    const reports: ErrorReport[] = []
    const { report, reporter, lines } = reporting(t, {
      onReport: (each) => void reports.push(each),
    })
    const gone = new HttpRequest({ target: '/', signal: AbortSignal.abort() })
    const aborted = Object.assign(new Error('aborted'), { name: 'AbortError' })
    report(new ClientGoneError(), 400)
    report(aborted, 500, gone)
    reporter.report({ exceptions: [new ClientGoneError(), aborted], status: 500, request: gone })
    reporter.flush()
    assert.deepEqual([lines, reports], [[], []])

    report(aborted, 500, new HttpRequest({ target: '/' }))
    report(aborted, 500)
    reporter.report({ exceptions: [new ClientGoneError(), new Error('x')], status: 500 })
    assert.equal(reports.length, 3)
  })
})

describe('Reporter.admit()', () => {
  const request = new HttpRequest({ target: '/x' })
  const fault = { exceptions: [new Error('boom')], status: 500, request }
  const rejection = { exceptions: [new NoControllerError('x')], status: 404, request }

  it('returns the id of an error that the log will have, and none for one that it counts', (t) => {
    const { reporter, lines } = reporting(t, { onReport() {} })
    const ids = [rejection, rejection].map((failure) => {
      const admission = reporter.admit(failure)
      reporter.report(failure, admission)
      return admission.id
    })
    assert.deepEqual(ids, [request.id, undefined])
    assert.equal(lines.length, 1)
    for (let i = 0; i < 600; i++) assert.equal(reporter.admit(fault).id, request.id)
    assert.equal(reporter.admit(fault).id, undefined)
  })

  it('returns no id for a level that the logger does not write', (t) => {
    const { lines, logger } = logging()
    const isLevelEnabled = (level: string): boolean => level === 'error'
    const { reporter } = reporting(t, { logger: { ...logger, isLevelEnabled } })
    for (const [failure, id] of [
      [rejection, undefined],
      [fault, request.id],
    ] as const) {
      const admission = reporter.admit(failure)
      assert.equal(admission.id, id)
      // The error action has made a 404 of the fault, and the response shows its id.
      reporter.report({ ...failure, status: 404 }, admission)
    }
    assert.deepEqual(
      lines.map(([level, { id }]) => [level, id]),
      [['error', request.id]],
    )
  })

  it('resets the counts of a level that the logger does not write, too', (t) => {
    const { lines, logger } = logging()
    const isLevelEnabled = (level: string): boolean => level === 'error'
    const { reporter } = reporting(t, { logger: { ...logger, isLevelEnabled } })
    for (const rounds of [1, 2]) {
      reporter.report(rejection)
      t.mock.timers.tick(MINUTE_MS)
      assert.equal(lines.length, rounds)
    }
    reporter.flush()
    assert.equal(lines.length, 2)
  })

  it('returns the id without a logger if something receives the report', (t) => {
    const ids = (options: Partial<ReporterOptions>): unknown[] => {
      const { reporter } = reporting(t, { logger: undefined, ...options })
      t.mock.timers.reset()
      return [rejection, rejection, fault].map((failure) => reporter.admit(failure).id)
    }
    assert.deepEqual(ids({ onReport() {} }), Array(3).fill(request.id))
    assert.deepEqual(ids({}), Array(3).fill(undefined))
  })

  it('returns no id if the client has gone away, and never throws', (t) => {
    const isLevelEnabled = (): never => {
      throw new Error('boom')
    }
    const { lines, logger } = logging()
    const { reporter } = reporting(t, { logger: { ...logger, isLevelEnabled } })
    const gone = { exceptions: [new ClientGoneError()], status: 400, request }
    for (const failure of [gone, fault]) assert.equal(reporter.admit(failure).id, undefined)
    assert.deepEqual(lines, [])
  })

  it('admits a failure of the error action by itself, in full if the first exception was', (t) => {
    const { reporter, lines } = reporting(t)
    for (let i = 0; i < 3; i++) {
      const admission = reporter.admit(rejection)
      const exceptions = [...rejection.exceptions, new Error('second')]
      reporter.report({ exceptions, status: 500, request }, admission)
    }
    assert.deepEqual(
      lines.map(([level, { id, second, fingerprint }]) => [
        level,
        id,
        second !== undefined,
        fingerprint,
      ]),
      [true, false, false].map((isFull) => [
        'error',
        request.id,
        isFull,
        lines[0]?.[1].fingerprint,
      ]),
    )
    assert.match(String(lines[0]?.[1].fingerprint), / error\/error$/)
    reporter.flush()
    assert.equal(lines.length, 3)
  })
})

describe('Reporter.flush()', () => {
  it('does not fail if the logger throws: a timer calls it, and the end of a service', (t) => {
    const messages: string[] = []
    const write = (_: object, message: string): void => {
      messages.push(message)
      throw new Error('no disk')
    }
    const logger = { info: write, warn: write, error: write, isLevelEnabled: () => false }
    const { reporter, report } = reporting(t, { logger })
    report(new Error('counted'), 500)
    reporter.flush()
    report(new Error('counted'), 500)
    t.mock.timers.tick(2 * MINUTE_MS)
    assert.deepEqual(messages.slice(0, 2), ['1 more error', '2 more errors'])
  })

  it('writes the summary at once, and nothing if there is none', (t) => {
    const { reporter, report, lines } = reporting(t)
    reporter.flush()
    const malformed = new MalformedMessageError(400, 'HPE_INVALID_METHOD')
    malformed.stack = ''
    report(malformed, 400)
    reporter.flush()
    assert.equal(lines.length, 1)
    report(malformed, 400)
    reporter.flush()
    assert.deepEqual(lines.slice(1), [
      summary(1, { 'EXCEPTION_OTHER MalformedMessageError 400': 1 }),
    ])
    t.mock.timers.tick(10 * MINUTE_MS)
    assert.equal(lines.length, 2)
  })

  it('keeps no process alive', () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const { logger } = logging()
    const options = { logger, onReport: undefined, logParams: new Set<string>() }
    const reporter = new Reporter({ ...options, development: false })
    reporter.report({ exceptions: [new Error('x')], status: 500 })
    assert.equal(timers(), before)
    reporter.flush()
  })
})
