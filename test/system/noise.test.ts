import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { Agent, request } from 'undici'
import { type ErrorReport, type FrontController, HttpError, HttpRequest } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import { logLinesOf, ServerProcess } from '../support/server-process.ts'

const REQUESTS = 10_000
const MAX_LINES = 200
const IN_FULL = 80
const MAX_KINDS = 1_000

interface Line {
  readonly event: string
  readonly total?: number
  readonly kinds?: Readonly<Record<string, number>>
  readonly status?: number
}

function createLoggingFront(onReport?: (report: ErrorReport) => void): [FrontController, Line[]] {
  const lines: Line[] = []
  const write = (fields: object): void => {
    lines.push(fields as Line)
  }
  const broken = (): never => {
    throw new Error('broken')
  }
  const rejected = (): never => {
    throw new HttpError(403, 'rejected')
  }
  const logger = { info: write, warn: write, error: write }
  const front = createFront({ news: { broken, rejected } }, { logger, onReport })
  return [front, lines]
}

const handle = (front: FrontController, target: string) => front.handle(new HttpRequest({ target }))
const inFull = (lines: readonly Line[]) => lines.filter(({ event }) => event === 'error')
const summaries = (lines: readonly Line[]) => lines.filter(({ event }) => event === 'errors')

/** Returns the number of errors in the log: those in full, and those that were only counted. */
function counted(lines: readonly Line[]): number {
  const totals = summaries(lines).map(({ total = 0 }) => total)
  return totals.reduce((sum, total) => sum + total, inFull(lines).length)
}

// Letters alone: each looks like a name, so each is its own kind.
const nameOf = (i: number): string =>
  `scan-${String(i).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')}`

const scans: Record<string, [target: (i: number) => string, kinds: number]> = {
  'one path': [() => '/wp-login.php', 1],
  'one path with a new query each time': [(i) => `/wp-login.php?id=${i}&${nameOf(i)}=1`, 1],
  '10,000 paths': [(i) => `/${nameOf(i)}/${nameOf(i + 1)}`, REQUESTS],
  '10,000 actions of one controller': [(i) => `/news/${nameOf(i)}`, REQUESTS],
  '10,000 random tokens': [() => `/${randomBytes(24).toString('hex')}`, 1],
}

describe('The noise budget', () => {
  for (const [scan, [target, kinds]] of Object.entries(scans)) {
    it(`writes few lines for 10,000 requests to ${scan}, and counts every error`, async () => {
      let reports = 0
      const [front, lines] = createLoggingFront(() => reports++)
      for (let i = 0; i < REQUESTS; i++) await handle(front, target(i))
      front.flush()
      assert.ok(lines.length <= MAX_LINES, `${lines.length} lines`)
      if (kinds === 1) assert.equal(inFull(lines).length, 1)
      assert.equal(counted(lines), REQUESTS)
      assert.equal(reports, REQUESTS)
    })
  }

  it('counts 1,000 kinds, and all others as one', async () => {
    const [front, lines] = createLoggingFront()
    for (let i = 0; i < REQUESTS; i++) await handle(front, `/${nameOf(i)}`)
    front.flush()
    assert.equal(summaries(lines)[0]?.kinds?.other, REQUESTS - IN_FULL - MAX_KINDS)
  })

  it('logs a server error in full after any number of scans', async () => {
    const [front, lines] = createLoggingFront()
    for (let i = 0; i < 2 * MAX_KINDS; i++) await handle(front, `/${nameOf(i)}`)
    await handle(front, '/news/broken')
    assert.equal(lines.at(-1)?.event, 'error')
    assert.equal(lines.at(-1)?.status, 500)
  })

  it('has a kind for each type, module, controller and action', async () => {
    const [front, lines] = createLoggingFront()
    const targets = ['/news/broken', '/news/rejected', '/news/none', '/none', '/none/none']
    for (const target of [...targets, ...targets, ...targets]) await handle(front, target)
    front.flush()
    assert.equal(inFull(lines).length, targets.length)
    assert.deepEqual(summaries(lines)[0]?.kinds, {
      'EXCEPTION_OTHER default news broken': 2,
      'EXCEPTION_OTHER default news rejected': 2,
      'EXCEPTION_NO_ACTION default news none': 2,
      'EXCEPTION_NO_CONTROLLER default none index': 2,
      'EXCEPTION_NO_CONTROLLER default none none': 2,
    })
  })

  it('writes a summary a minute, and none when nothing was counted', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const [front, lines] = createLoggingFront()
    const minute = async (requests: number): Promise<number[]> => {
      const before = summaries(lines).length
      for (let i = 0; i < requests; i++) await handle(front, '/none')
      t.mock.timers.tick(59_999)
      assert.equal(summaries(lines).length, before)
      t.mock.timers.tick(1)
      return summaries(lines)
        .slice(before)
        .map(({ total = 0 }) => total)
    }
    assert.deepEqual(await minute(1), [])
    assert.deepEqual(await minute(9), [9])
    assert.deepEqual(await minute(0), [])
    assert.deepEqual(await minute(4), [4])
    front.flush()
    front.flush()
    assert.equal(counted(lines), 14)
    assert.equal(inFull(lines).length, 1)
  })

  it('is flushed when the server stops', async (t) => {
    const server = new ServerProcess(t, ['--port', '0'])
    const url = await server.url()
    const dispatcher = new Agent({ connections: 16, keepAliveTimeout: 10 })
    const requests = 2_000
    const visit = async (i: number): Promise<void> => {
      const path = i % 2 === 0 ? '/wp-login.php' : `/${nameOf(i)}`
      const { statusCode, body } = await request(`${url}${path}`, { dispatcher })
      assert.equal(statusCode, 404)
      await body.dump()
    }
    await Promise.all(Array.from({ length: requests }, (_, i) => visit(i)))
    await dispatcher.close()
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    const lines: Line[] = logLinesOf(stdout)
    assert.equal(code, 0)
    assert.ok(lines.length <= MAX_LINES, `${lines.length} lines`)
    assert.equal(counted(lines), requests)
    assert.deepEqual(
      [lines[0]?.event, lines.at(-2)?.event, lines.at(-1)?.event],
      ['start', 'errors', 'stop'],
    )
  })
})
