import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { HttpError, HttpRequest, type HttpResponse } from '../../lib/index.ts'
import { toMetrics } from '../../lib/observe/exposition.ts'
import { createObserver, type Observer } from '../../lib/observe/observer.ts'
import type { Snapshot } from '../../lib/observe/snapshot.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { garbageCollector } from '../support/gc.ts'
import { exchange, send } from '../support/http.ts'
import { problemsOf, samplesOf, sumOf } from '../support/metrics.ts'
import { startServing } from '../support/serving.ts'

const controllers = {
  news: {
    list: (_: HttpRequest, response: HttpResponse) => response.text('list'),
    view: (request: HttpRequest, response: HttpResponse) =>
      response.text(request.param('id') ?? ''),
    fail() {
      throw new TypeError('CANARY')
    },
    forbidden() {
      throw new HttpError(403)
    },
    go: (request: HttpRequest) => request.forward({ action: 'list' }),
    stream(_: HttpRequest, response: HttpResponse) {
      response.body = Readable.from(['abc', 'def'])
    },
    slow: () => new Promise<never>(() => {}),
    read: (request: HttpRequest) => request.body.toArray().then(() => {}),
  },
}

type Counted = Record<string, number>

const requestsOf = ({ routes }: Snapshot): Counted =>
  Object.fromEntries(
    routes.flatMap(({ route, kind, requests }) =>
      requests.map(({ method, statusClass, count }) => [
        `${method} ${statusClass} ${kind} ${route}`.trim(),
        count,
      ]),
    ),
  )

describe('An observer', () => {
  it('counts each request of a service by route, method and class of the status', async (t) => {
    const { observer, port } = await observed(t)
    const targets: [target: string, method?: string, times?: number][] = [
      ['/news/list', 'GET', 3],
      ['/news/list', 'HEAD', 2],
      ['/news/list', 'PURGE'],
      ['/news/list', 'PROPFIND'],
      ['/news/view/id/1'],
      ['/news/view/id/2'],
      ['/news/fail'],
      ['/news/forbidden'],
      ['/news/go'],
      ['/news/stream'],
      ['/none'],
      ['/none', 'POST'],
      ['*', 'OPTIONS'],
    ]
    let sent = 0
    let bytes = 0
    for (const [target, method = 'GET', times = 1] of targets) {
      for (let i = 0; i < times; i++) {
        const { body } = await exchange(port, { target, method })
        if (target === '/news/view/id/1') bytes = body.length
        sent++
      }
    }
    const snapshot = observer.snapshot()
    assert.deepEqual(requestsOf(snapshot), {
      'GET 2 route news/list': 3,
      'HEAD 2 route news/list': 2,
      'other 2 route news/list': 2,
      'GET 2 route news/view': 2,
      'GET 5 route news/fail': 1,
      'GET 4 route news/forbidden': 1,
      'GET 2 route news/go': 1,
      'GET 2 route news/stream': 1,
      'GET 4 unrouted': 1,
      'POST 4 unrouted': 1,
      'OPTIONS 2 unrouted': 1,
    })
    const route = snapshot.routes.find((each) => each.route === 'news/view')
    assert.equal(route?.bytes, 2 * bytes)
    for (const { buckets, requests } of snapshot.routes) {
      assert.equal(total(buckets), total(requests.map(({ count }) => count)))
    }
    const minutes = snapshot.minutes.map(({ requests, errors, buckets }) => {
      assert.equal(total(buckets), requests)
      return [requests, errors]
    })
    assert.deepEqual(
      [total(minutes.map(([n = 0]) => n)), total(minutes.map(([, n = 0]) => n))],
      [sent, 1],
    )
    assert.equal(sumOf(toMetrics(snapshot).text, 'portico_requests_total'), sent)
    assert.equal(snapshot.server.connectionsTotal, sent)
  })

  it('counts errors by cause, type and route, and unrouted requests by kind', async (t) => {
    const { observer, port } = await observed(t)
    const query = '?client_id=CANARY&redirect_uri=https://CANARY.example/&response_type=code'
    for (const target of [
      '/news/fail',
      '/news/forbidden',
      '/none',
      '/news/none',
      '/none/%ff',
      `/signin${query}`,
      '/oauth2/callback?code=CANARY&state=CANARY',
      '/signin/v2?continue=CANARY&flowName=CANARY',
    ]) {
      await exchange(port, { target })
    }
    observer.recordError(new TypeError('CANARY'))
    observer.recordError('CANARY')
    const { errors, unrouted } = observer.snapshot()
    assert.deepEqual(
      errors.map(({ cause, type, route, count }) => [cause, type, route, count]),
      [
        ['server', 'EXCEPTION_OTHER', 'news/fail', 1],
        ['client', 'EXCEPTION_OTHER', 'news/forbidden', 1],
        ['client', 'EXCEPTION_NO_CONTROLLER', '', 4],
        ['client', 'EXCEPTION_NO_ACTION', '', 1],
        ['client', 'EXCEPTION_OTHER', '', 1],
        ['process', 'EXCEPTION_OTHER', '', 2],
      ],
    )
    assert.deepEqual(Object.fromEntries(unrouted.map(({ kind, count }) => [kind, count])), {
      EXCEPTION_NO_CONTROLLER: 1,
      EXCEPTION_NO_ACTION: 1,
      EXCEPTION_OTHER: 1,
      'authorization request': 1,
      callback: 1,
      'provider page': 1,
    })
  })

  it('has the hint of a sign-in that went astray, also if its error is not reported', async (t) => {
    const { observer, port } = await observed(t)
    for (const query of ['', '?q=1', '?code=CANARY&state=CANARY']) {
      await exchange(port, { target: `/elp/oauth.php${query}` })
    }
    const [{ count, hint } = {}] = observer.snapshot().journal
    assert.deepEqual([count, hint?.includes('register a controller')], [3, true])
  })

  it('counts both exceptions if the error action fails too, also with a 4xx', async () => {
    for (const second of [new Error('second'), new HttpError(404)]) {
      const observer = createObserver()
      const error = {
        error() {
          throw second
        },
      }
      const front = createFront({ ...controllers, error })
      await handleAll(front, observer, ['/none'])
      assert.deepEqual(observer.snapshot().errors, [
        { cause: 'client', type: 'EXCEPTION_NO_CONTROLLER', route: '', count: 1 },
        { cause: 'server', type: 'EXCEPTION_OTHER', route: '', count: 1 },
      ])
    }
  })

  it('counts an error of a body after its first bytes, and of a middleware', async (t) => {
    const cut = (_: HttpRequest, response: HttpResponse): void => {
      const fail = async function* (): AsyncGenerator<string> {
        yield 'first'
        await nextTurn()
        throw new TypeError('CANARY')
      }
      response.body = fail()
    }
    const { observer, port, accessed } = await observed(t, {}, {}, { news: { cut } })
    await send(port, 'GET /news/cut HTTP/1.1\r\nHost: a\r\n\r\n').catch(() => {})
    await accessed()
    const { errors, faults, journal } = observer.snapshot()
    const error = { cause: 'server', type: 'EXCEPTION_OTHER', count: 1 }
    assert.deepEqual(errors, [{ ...error, route: 'news/cut' }])
    assert.deepEqual([faults.length, journal.length], [1, 1])
    assert.match(faults[0]?.fingerprint ?? '', /^EXCEPTION_OTHER TypeError .*news\/cut$/)

    for (const thrown of [new TypeError('CANARY'), new HttpError(403)]) {
      const other = createObserver()
      const before = [
        () => {
          throw thrown
        },
      ]
      const options = { onAccess: other.onAccess, before }
      const served = await startServing(t, createFront(controllers), options)
      assert.equal((await exchange(served.port, { target: '/news/list' })).status, 500)
      const snapshot = other.snapshot()
      assert.deepEqual(snapshot.errors, [{ ...error, route: '' }])
      assert.equal(snapshot.faults.length, 1)
    }
  })

  it('counts a message that is no valid HTTP, and whose target has an action, as unrouted', async (t) => {
    const { observer, port } = await observed(t)
    const target = 'POST /news/list HTTP'
    await send(port, `${target}/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n`)
    await send(port, `${target}/2.0\r\nHost: a\r\n\r\n`)
    await send(port, `${target}/1.1\r\n\r\n`)
    const snapshot = observer.snapshot()
    assert.deepEqual(requestsOf(snapshot), { 'POST 4 unrouted': 1, 'POST 5 unrouted': 2 })
    const { errors, unrouted, faults } = snapshot
    assert.deepEqual(errors, [{ cause: 'client', type: 'EXCEPTION_OTHER', route: '', count: 3 }])
    assert.deepEqual([...new Set(faults.map(({ route }) => route))], [''])
    assert.deepEqual(unrouted, [{ kind: 'EXCEPTION_OTHER', count: 3 }])
  })

  it('counts no error of a client that has left', async (t) => {
    const { observer, port, accessed } = await observed(t)
    const socket = connect(port, '127.0.0.1')
    socket.write('POST /news/read HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n')
    await once(socket, 'connect')
    socket.end()
    await accessed()
    const { errors, routes } = observer.snapshot()
    assert.deepEqual(
      [errors, total(routes.flatMap(({ requests }) => requests.map((r) => r.count)))],
      [[], 1],
    )
  })

  it('counts the limits that were hit', async (t) => {
    const limits = { maxBodyBytes: 10, actionTimeoutMs: 20, maxTargetBytes: 200 }
    const service = { maxHeaderFields: 10, maxConnections: 1 }
    const { observer, port } = await observed(t, { limits }, service)
    const form = [['Content-Type', 'application/x-www-form-urlencoded']] as const
    const body = `a=${'b'.repeat(20)}`
    await exchange(port, { method: 'POST', target: '/news/list', headers: form, body })
    await exchange(port, { target: `/news/list?${'a'.repeat(200)}` })
    // Fewer than twice the limit: beyond that, the parser of newer versions of Node closes the connection later.
    const fields = Array.from({ length: 12 }, (_, i) => [`x-${i}`, 'a'] as const)
    await exchange(port, { target: '/news/list', headers: fields })
    await exchange(port, { target: '/news/slow' })
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    await send(port, '')
    socket.destroy()
    const limitsHit = observer.snapshot().limits.map(({ name, count }) => [name, count])
    assert.deepEqual(Object.fromEntries(limitsHit), {
      body: 1,
      target: 1,
      headers: 1,
      'action time': 1,
      connections: 1,
    })
  })

  it('counts the messages that arrive too late, and no other rejection, as a limit', async (t) => {
    const { observer, port } = await observed(t, {}, { headersTimeoutMs: 100 })
    assert.match(await send(port, 'GET /news/list HTTP/1.1\r\n'), /^HTTP\/1\.1 408 /)
    await send(port, 'garbage\r\n\r\n')
    const { limits, errors, routes } = observer.snapshot()
    assert.deepEqual(limits, [{ name: 'receive time', count: 1 }])
    assert.deepEqual(errors, [{ cause: 'client', type: 'EXCEPTION_OTHER', route: '', count: 2 }])
    assert.deepEqual(routes, [])
  })

  it('does not regard a 503 of the application as a limit', async () => {
    const observer = createObserver()
    const app = {
      index() {
        throw new HttpError(503)
      },
      stream(_: HttpRequest, response: HttpResponse) {
        response.body = Readable.from(['a'])
        throw new HttpError(503)
      },
    }
    await handleAll(createFront({ app }), observer, ['/app', '/app/stream'])
    assert.deepEqual(observer.snapshot().limits, [])
  })

  it('shows requests in flight', async (t) => {
    const started = deferred()
    const finish = deferred()
    const wait = async (_: HttpRequest, response: HttpResponse): Promise<void> => {
      started.resolve()
      await finish.promise
      response.text('ok')
    }
    const { observer, port } = await observed(t, {}, {}, { app: { wait } })
    const response = exchange(port, { target: '/app/wait' })
    await started.promise
    const { server, routes } = observer.snapshot()
    assert.deepEqual([server.inFlight, server.connections, routes], [1, 1, []])
    finish.resolve()
    await response
    assert.equal(observer.snapshot().server.inFlight, 0)
  })

  it('listens with probes and metrics, and rejects unknown options', async (t) => {
    const { observer, port } = await observed(t)
    await exchange(port, { target: '/news/list' })
    let isReady = false
    const server = await observer.listen({ port: 0, isReady: () => isReady })
    t.after(() => server.close())
    const own = Number(new URL(server.url).port)
    assert.equal((await exchange(own, { target: '/readyz' })).status, 503)
    isReady = true
    assert.equal((await exchange(own, { target: '/readyz' })).status, 200)
    const { body } = await exchange(own, { target: '/metrics' })
    assert.deepEqual(problemsOf(body), [])
    assert.equal(sumOf(body, 'portico_requests_total', { route: 'news/list' }), 1)
    assert.doesNotMatch(body, /process_cpu/)
    assert.throws(() => createObserver({ process: true } as never), TypeError)
  })
})

describe('The size of what an observer keeps', () => {
  it('is bounded for 100,000 requests to 100,000 random paths, with exact totals', async () => {
    const collect = garbageCollector()
    const observer = createObserver()
    const front = createFront(controllers)
    let n = 0
    const targets = (count: number): string[] =>
      Array.from({ length: count }, () => {
        const hash = createHash('sha256').update(String(n++)).digest('hex')
        const paths = ['', 'news/', 'news/view/id/', `${hash.slice(0, 5)}/`]
        return `/${paths[n % 4]}${hash.slice(0, 20)}?${hash.slice(20, 25)}=${hash}`
      })
    const methods = ['GET', 'POST', 'X1', 'X2', 'X3', 'X4', 'X5']
    await handleAll(front, observer, targets(5_000), methods)
    collect()
    const series = samplesOf(toMetrics(observer.snapshot()).text).length
    const size = JSON.stringify(observer.snapshot()).length
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 19; i++) await handleAll(front, observer, targets(5_000), methods)
    collect()
    const grown = process.memoryUsage().heapUsed - before
    assert.ok(grown < 2 * 1_024 * 1_024, `${grown} bytes`)
    const snapshot = observer.snapshot()
    const { text } = toMetrics(snapshot)
    assert.deepEqual(problemsOf(text), [])
    assert.equal(samplesOf(text).length, series)
    // A number may have more digits.
    assert.ok(JSON.stringify(snapshot).length < size + 1_000)
    assert.equal(sumOf(text, 'portico_requests_total'), 100_000)
    assert.equal(sumOf(text, 'portico_requests_total', { route: 'news/view' }), 25_000)
    assert.equal(sumOf(text, 'portico_unrouted_requests_total'), 75_000)
    assert.equal(sumOf(text, 'portico_errors_total', { type: 'EXCEPTION_NO_ACTION' }), 25_000)
    assert.equal(sumOf(text, 'portico_request_duration_seconds_count'), 100_000)
  })

  it('leaves no part of a request as the last match of an expression', async () => {
    const observer = createObserver()
    const front = createFront(controllers)
    for (const path of ['/news/fail', '/nope/c4n4ry', '/news/%ff']) {
      await handleAll(front, observer, [`${path}?code=c4n4ry`])
      assert.equal(RegExp.$_, '')
    }
  })
})

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

// Counts requests without a socket.
async function handleAll(
  front: ReturnType<typeof createFront>,
  observer: Observer,
  targets: readonly string[],
  methods: readonly string[] = ['GET'],
): Promise<void> {
  for (const [i, target] of targets.entries()) {
    const method = methods[i % methods.length] ?? 'GET'
    const response = await front.handle(new HttpRequest({ method, target }))
    const route = response.request?.route ?? null
    observer.onAccess({ method, response, route, bytes: 10, durationMs: i % 100 })
  }
}

async function observed(
  t: TestContext,
  options: object = {},
  limits: object = {},
  all: object = controllers,
): Promise<{ observer: Observer; port: number; accessed: () => Promise<void> }> {
  const observer = createObserver()
  const accessed = deferred()
  const { service, port } = await startServing(t, createFront(all, options), {
    limits,
    onAccess(access) {
      observer.onAccess(access)
      accessed.resolve()
    },
  })
  observer.watch(service)
  return { observer, port, accessed: () => accessed.promise }
}
