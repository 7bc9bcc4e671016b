import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ClientGoneError, HttpError, NoControllerError } from '../../lib/http/errors.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import type { ErrorReport } from '../../lib/reporting/error-report.ts'
import { Reporter, type ReporterOptions } from '../../lib/reporting/reporter.ts'

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
    hasController: () => false,
    ...options,
  })
  const report = (error: Error, status = 500, request?: HttpRequest): void =>
    reporter.report({ exceptions: [error], status, request })
  return { reporter, report, lines }
}

const summary = (total: number, kinds: Record<string, number>): Line => [
  'warn',
  { event: 'errors', total, kinds },
  `${total} more errors`,
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
        ['warn', 'error', 499, 'EXCEPTION_OTHER', 'word(8)'],
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
    for (let i = 0; i < 3; i++) report(new Error('boom'), 500)
    assert.equal(lines.length, 2)
    t.mock.timers.tick(MINUTE_MS - 1)
    assert.equal(lines.length, 2)
    t.mock.timers.tick(1)
    const kinds = { 'EXCEPTION_NO_CONTROLLER   ': 9_999, 'EXCEPTION_OTHER   ': 2 }
    assert.deepEqual(lines.slice(2), [summary(10_001, kinds)])
    t.mock.timers.tick(10 * MINUTE_MS)
    assert.equal(lines.length, 3)

    report(new Error('boom'), 500)
    t.mock.timers.tick(MINUTE_MS)
    assert.deepEqual(lines.slice(3), [summary(1, { 'EXCEPTION_OTHER   ': 1 })])
  })

  it('keeps a budget for server errors, whatever scanners use up', (t) => {
    const { reporter, report, lines } = reporting(t)
    const asking = (controller: string): HttpRequest =>
      new HttpRequest({ target: '/' }).forward({ action: 'x', controller })
    for (let i = 0; i < 10_000; i++) report(new NoControllerError('x'), 404, asking(`scan-${i}`))
    assert.equal(lines.length, 80)
    report(new Error('boom'), 500, asking('news'))
    assert.equal(lines.at(-1)?.[2], 'boom')
    reporter.flush()
    assert.deepEqual([lines.length, lines.at(-1)?.[1].total], [82, 9_920])
  })

  it('counts tokens of all lengths as one kind', (t) => {
    const tokens = ['0AfJohXkq9TzB3mWcR7Lp', '0BxKpiYlr8UaC4nXdS6Mq', '0BxKpiYlr8UaC4nXdS6Mq7']
    const { report, lines } = reporting(t)
    for (const controller of tokens) {
      const request = new HttpRequest({ target: '/' }).forward({ action: 'x', controller })
      for (const status of [404, 500]) report(new NoControllerError(controller), status, request)
    }
    assert.deepEqual(
      lines.map(([, { status }]) => status),
      [404, 500],
    )
  })

  it('calls onReport for every error, including those that are only counted', (t) => {
    const reports: ErrorReport[] = []
    const { report, lines } = reporting(t, { onReport: (each) => void reports.push(each) })
    for (let i = 0; i < 5; i++) report(new Error(`boom${i}`))
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

  it('survives an observer that throws', (t) => {
    const { report, lines } = reporting(t, {
      onReport() {
        throw new TypeError('c4n4ry')
      },
    })
    report(new Error('boom'))
    const [level, { event } = {}, message] = lines.at(-1) ?? []
    assert.deepEqual([level, event, message], ['error', 'observer', 'An observer of errors failed'])
    assert.doesNotMatch(JSON.stringify(lines), /c4n4ry/)
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

describe('Reporter.flush()', () => {
  it('writes the summary at once, and nothing if there is none', (t) => {
    const { reporter, report, lines } = reporting(t)
    reporter.flush()
    report(new Error('boom'))
    reporter.flush()
    assert.equal(lines.length, 1)
    report(new Error('boom'))
    reporter.flush()
    assert.deepEqual(lines.slice(1), [summary(1, { 'EXCEPTION_OTHER   ': 1 })])
    t.mock.timers.tick(10 * MINUTE_MS)
    assert.equal(lines.length, 2)
  })

  it('keeps no process alive', () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const { logger } = logging()
    const options = { logger, onReport: undefined, logParams: new Set<string>() }
    const reporter = new Reporter({ ...options, hasController: () => false })
    reporter.report({ exceptions: [new Error('x')], status: 500 })
    assert.equal(timers(), before)
    reporter.flush()
  })
})
