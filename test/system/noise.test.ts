import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { Agent, request } from 'undici'
import {
  channels,
  type FrontController,
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
  type HttpResponse,
} from '../../lib/index.ts'
import { collectReports } from '../support/collectors.ts'
import { createFolder } from '../support/folder.ts'
import { createFront } from '../support/front.ts'
import { exchange } from '../support/http.ts'
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
  readonly type?: string
  readonly id?: string
  readonly message?: string
  readonly fingerprint?: string
  readonly second?: { readonly message: string }
}

function createLoggingFront(
  onReport?: FrontControllerOptions['onReport'],
  controllers: object = {},
): [FrontController, Line[]] {
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
  const front = createFront({ news: { broken, rejected }, ...controllers }, { logger, onReport })
  return [front, lines]
}

const handle = (front: FrontController, target: string) => front.handle(new HttpRequest({ target }))
const errors = (lines: readonly Line[]) => lines.filter(({ event }) => event === 'error')
const inFull = (lines: readonly Line[]) => errors(lines).filter(({ type }) => type !== undefined)
const inShort = (lines: readonly Line[]) => errors(lines).filter(({ type }) => type === undefined)
const summaries = (lines: readonly Line[]) => lines.filter(({ event }) => event === 'errors')

/** Returns the number of errors in the log: those with a line, and those that were only counted. */
function counted(lines: readonly Line[]): number {
  const totals = summaries(lines).map(({ total = 0 }) => total)
  return totals.reduce((sum, total) => sum + total, errors(lines).length)
}

// Each looks like a name, so each is its own kind.
const WORDS = ['area', 'body', 'case', 'date', 'edit', 'file', 'game', 'home', 'item', 'list']
const nameOf = (i: number): string =>
  `scan${String(i).replace(/\d/g, (digit) => `-${WORDS[Number(digit)]}`)}`

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

  it('has a kind for each type, status, module, controller and action', async () => {
    const [front, lines] = createLoggingFront()
    const targets = ['/news/broken', '/news/rejected', '/news/none', '/none', '/none/none']
    for (const target of [...targets, ...targets, ...targets]) await handle(front, target)
    front.flush()
    assert.equal(inFull(lines).length, targets.length)
    assert.equal(inShort(lines).length, 2)
    assert.deepEqual(summaries(lines)[0]?.kinds, {
      'EXCEPTION_OTHER 403 default news rejected': 2,
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

// The id of the response of the error controller; undefined if it shows none.
const shownId = ({ body }: HttpResponse): string | undefined =>
  /urn:uuid:([\da-f-]{36})/.exec(String(body))?.[1]

// Shows the id as the documentation recommends.
const ownError = (request: HttpRequest, response: HttpResponse): void => {
  response.status = 500
  response.text(`Sorry. urn:uuid:${request.errorHandler?.id}`)
}

describe('An id that a client is shown', () => {
  for (const [what, controllers] of Object.entries({
    'the built-in error controller': {},
    "the application's error controller": { error: { error: ownError } },
  })) {
    it(`can be found in the log: ${what}`, async () => {
      const [front, lines] = createLoggingFront(undefined, controllers)
      const shown: (string | undefined)[] = []
      for (let i = 0; i < 1_000; i++) {
        const target = i % 2 === 0 ? '/news/broken' : `/${nameOf(i)}`
        shown.push(shownId(await front.handle(new HttpRequest({ target }))))
      }
      const logged = errors(lines).map(({ id }) => id)
      assert.deepEqual(
        shown.filter((id) => id !== undefined),
        logged,
      )
      assert.equal(logged.length, 500 + IN_FULL)
    })
  }

  it('is shown for the first 600 faults of a minute, and for the first 404 of a kind', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const [front, lines] = createLoggingFront()
    const count = async (target: string, requests: number): Promise<number> => {
      let shown = 0
      for (let i = 0; i < requests; i++) {
        if (shownId(await handle(front, target)) !== undefined) shown++
      }
      return shown
    }
    for (let minute = 0; minute < 3; minute++) {
      assert.equal(await count('/none', 10), minute === 0 ? 1 : 0)
      assert.equal(await count('/news/broken', 1_000), 600)
      t.mock.timers.tick(60_000)
    }
    assert.deepEqual(
      [inFull(lines).length, errors(lines).length, counted(lines)],
      [4, 1_801, 3_030],
    )
  })

  it('is shown once an hour for a 404', async (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    const [front] = createLoggingFront()
    const ids: boolean[] = []
    for (now of [0, 1, 3_599_999, 3_600_000, 3_600_001, 7_200_000]) {
      ids.push(shownId(await handle(front, '/none')) !== undefined)
    }
    assert.deepEqual(ids, [true, false, false, true, false, true])
  })

  it('is shown without a logger only if something receives the reports', async (t) => {
    const idOf = async (options: FrontControllerOptions): Promise<unknown> =>
      shownId(await handle(createFront({}, options), '/none'))
    const { reports, onReport } = collectReports()
    const id = await idOf({ onReport })
    assert.deepEqual([id], [reports[0]?.id])
    assert.equal(await idOf({}), undefined)
    const receive = (): void => {}
    channels.report.subscribe(receive)
    t.after(() => channels.report.unsubscribe(receive))
    assert.notEqual(await idOf({}), undefined)
  })

  it('is in the log and in the access log of a server', async (t) => {
    const folder = createFolder(t, {
      'news.mjs': 'export function list() { throw new Error("broken") }',
    })
    const server = new ServerProcess(t, ['--port', '0', '--access-log', '--controllers', folder])
    const port = await server.port()
    const shown: unknown[] = []
    const requested = ['/news/list', '/news/list', '/news/list', '/none', '/none']
    for (const target of requested) {
      const { body } = await exchange(port, { target })
      shown.push(JSON.parse(body).instance?.slice('urn:uuid:'.length))
    }
    server.child.kill('SIGTERM')
    const lines: Line[] = logLinesOf((await server.ended).stdout)
    const idsOf = (name: string): unknown[] =>
      lines.filter(({ event }) => event === name).map(({ id }) => id)
    assert.deepEqual(idsOf('error'), shown.slice(0, 4))
    assert.deepEqual(idsOf('access').slice(0, 4), shown.slice(0, 4))
    assert.deepEqual([idsOf('access').length, shown[4]], [5, undefined])
  })
})

describe('A second bug in the same action', () => {
  it('is logged in full, with another fingerprint', async () => {
    const list = (request: HttpRequest): never => {
      if (request.param('id') === undefined) throw new TypeError('no id')
      throw new RangeError('a wrong id')
    }
    const [front, lines] = createLoggingFront(undefined, { shop: { list } })
    for (const target of ['/shop/list', '/shop/list', '/shop/list/id/1', '/shop/list/id/2']) {
      await handle(front, target)
    }
    assert.deepEqual(
      inFull(lines).map(({ message }) => message),
      ['no id', 'a wrong id'],
    )
    assert.deepEqual(
      inShort(lines).map(({ message }) => message),
      ['no id', 'a wrong id'],
    )
    assert.equal(new Set(errors(lines).map(({ fingerprint }) => fingerprint)).size, 2)
  })

  it('is logged in full if it is in the error action', async () => {
    const error = (): never => {
      throw new Error('the template is missing')
    }
    const [front, lines] = createLoggingFront(undefined, { error: { error } })
    for (const target of ['/none', '/none', '/none']) await handle(front, target)
    const details = errors(lines).map(({ type }) => (type === undefined ? 'short' : 'full'))
    // The line of the first 404 has both errors.
    assert.deepEqual(details, ['full', 'short', 'short'])
    assert.equal(lines[0]?.second?.message, 'the template is missing')
    assert.equal(lines[2]?.message, 'the template is missing')
    assert.equal(new Set(lines.map(({ fingerprint }) => fingerprint)).size, 1)
  })
})
