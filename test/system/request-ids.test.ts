import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest } from '../../lib/index.ts'
import { collectLog, collectReports } from '../support/collectors.ts'
import { createFolder } from '../support/folder.ts'
import { createFront } from '../support/front.ts'
import { exchange } from '../support/http.ts'
import { logLinesOf, ServerProcess } from '../support/server-process.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`
const controllers = {
  news: {
    list() {},
    fail() {
      throw new Error('boom')
    },
  },
}

describe('The ids of a trusted proxy', () => {
  const ids = { requestId: 'proxy-1', traceId: TRACE }
  const headers = { 'X-Request-Id': ids.requestId, traceparent }

  /** Handles two requests that fail, and returns what log and `onReport` have of the ids. */
  async function report(init: object): Promise<unknown[]> {
    const { reports, onReport } = collectReports()
    const { entries, logger } = collectLog()
    const trustProxy = ['10.0.0.0/8']
    const front = createFront(controllers, { logger, onReport, trustProxy })
    for (let i = 0; i < 2; i++) {
      await front.handle(new HttpRequest({ target: '/news/fail', ...init }))
    }
    const facts: Record<string, unknown>[] = entries.map(({ fields }) => fields)
    facts.push(...reports.map((each) => ({ ...each })))
    return facts.map(({ requestId, traceId, ...rest }) => {
      assert.doesNotMatch(JSON.stringify(rest), /c4n4ry|4bf92f/)
      return { requestId, traceId }
    })
  }

  it('are in the report, in its line and in the short line', async () => {
    const remoteAddress = '10.0.0.1'
    assert.deepEqual(await report({ headers, remoteAddress }), Array(4).fill(ids))
  })

  it('are left out if the peer is no trusted proxy, or if they have another form', async () => {
    const none = Array(4).fill({ requestId: undefined, traceId: undefined })
    for (const init of [
      { headers },
      { headers, remoteAddress: '9.9.9.9' },
      { headers: { ...headers, 'X-Forwarded-For': '10.0.0.1' }, remoteAddress: '9.9.9.9' },
      {
        headers: { 'X-Request-Id': 'c4n4ry c4n4ry', traceparent: `${traceparent}-c4n4ry` },
        remoteAddress: '10.0.0.1',
      },
    ]) {
      assert.deepEqual(await report(init), none, JSON.stringify(init))
    }
  })
})

describe('The ids of a server process', () => {
  const files = {
    'news.mjs': 'export function list() {}; export function fail() { throw new Error("boom") }',
  }

  for (const [what, proxy, ids] of [
    ['trusts', '127.0.0.1', ['proxy-1', TRACE]],
    ['does not trust', '127.0.0.2', [undefined, undefined]],
  ] as const) {
    it(`are in its lines and responses, with those of a proxy that it ${what}`, async (t) => {
      const folder = createFolder(t, files)
      const site = createFolder(t, { 'site.css': 'a{}' })
      const server = new ServerProcess(t, [
        ...['--port', '0', '--controllers', folder, '--public', site, '--access-log'],
        ...['--trust-proxy', proxy, '--id-header', 'X-Portico-Id'],
      ])
      const port = await server.port()
      const headers = [
        ['X-Request-Id', 'proxy-1'],
        ['traceparent', traceparent],
      ] as const
      const shown: unknown[] = []
      for (const target of ['/news/list', '/news/fail', '/none', '/site.css', '/%ff']) {
        const response = await exchange(port, { target, headers })
        shown.push(response.headers['x-portico-id'])
      }
      server.child.kill('SIGTERM')
      const { stdout } = await server.ended
      const lines = logLinesOf(stdout)
      const access = lines.filter(({ event }) => event === 'access')
      assert.deepEqual(
        access.map(({ id, route, status }) => [id, route, status]),
        [
          [shown[0], 'news/list', 200],
          [shown[1], 'news/fail', 500],
          [shown[2], null, 404],
          [shown[3], null, 200],
          [shown[4], null, 400],
        ],
      )
      const errors = lines.filter(({ event }) => event === 'error')
      assert.deepEqual(
        errors.map(({ id }) => id),
        [shown[1], shown[2], shown[4]],
      )
      for (const { requestId, traceId } of [...access, ...errors]) {
        assert.deepEqual([requestId, traceId], ids)
      }
    })
  }
})
