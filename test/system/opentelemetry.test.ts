import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { writeFileIn } from '../support/folder.ts'
import { bytesOf, listening, type RawRequest, send } from '../support/http.ts'
import { writeRecipes } from '../support/recipes.ts'
import { ServerProcess } from '../support/server-process.ts'

// As OTLP numbers the status and the kind of a span.
const ERROR = 2
const CLIENT = 3

const app = `
import { request as requestTo } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import './opentelemetry.js'

const valuesOf = ({ params, target, headers, cookies }) =>
  JSON.stringify([params, target, headers, [...cookies]])
const news = {
  view: (request, response) => response.text('sync'),
  async save(request, response) {
    await nextTurn()
    return response.text('async')
  },
  fail(request) {
    throw new TypeError(valuesOf(request))
  },
  async reject(request) {
    await nextTurn()
    throw new RangeError(valuesOf(request))
  },
  cut(request, response) {
    response.body = (async function* () {
      yield 'start'
      throw new Error(valuesOf(request))
    })()
  },
  call: (request, response) => callOut(request, response),
  hangUp(request, response) {
    const failure = new Error(valuesOf(request))
    failure.name = request.params.q
    return callOut(request, response, failure)
  },
}
async function callOut({ params: { q, port } }, response, failure) {
  const call = requestTo({ port, path: '/out/' + q + '?code=' + q + '&state=' + q, headers: { cookie: q } })
  const closed = new Promise((resolve) => call.on('close', resolve).on('error', () => {}))
  if (failure) call.destroy(failure)
  else call.end()
  await closed
  return response.text('called')
}
export default { controllers: { news } }
`

const main = `
import { FrontController, serve } from 'portico'
import options, { sdk } from './opentelemetry.js'

const service = await serve(new FrontController(options), { port: 0 })
process.on('SIGTERM', async () => {
  await service.close()
  await sdk.shutdown()
})
console.log(service.url)
`

interface Span {
  readonly name: string
  readonly kind: number
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
  readonly status: { readonly code: number; readonly message?: string }
}

interface Collected {
  readonly server: ServerProcess
  /** The bodies as they came over the wire. */
  readonly bodies: readonly string[]
  /** Waits for this number of spans. */
  spans(count: number): Promise<readonly Span[]>
}

/** Starts a collector and a server that exports to it, and sends the requests one after the other. */
async function collect(
  t: TestContext,
  file: string,
  requests: readonly RawRequest[],
  host = '127.0.0.1',
): Promise<Collected> {
  const bodies: string[] = []
  const arrivals = new EventEmitter()
  const collector = createServer(async (request, response) => {
    const body = await text(request)
    response.end('{}')
    if (request.url !== '/v1/traces') return
    bodies.push(body)
    arrivals.emit('body')
  })
  const collectorPort = await listening(t, collector)
  const folder = writeRecipes(t)
  writeFileIn(folder, 'app.js', app)
  writeFileIn(folder, 'main.js', main)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}` }
  const server =
    file === 'main.js'
      ? new ServerProcess(t, [], env, { file: join(folder, file), folder })
      : new ServerProcess(t, ['--port=0', '--app', join(folder, file)], {
          ...env,
          OTEL_BSP_SCHEDULE_DELAY: '50',
        })
  const port = await server.port()
  for (const request of requests) {
    const target = request.target.replace('COLLECTOR', String(collectorPort))
    const bytes = bytesOf({ ...request, target }).replace('Host: 127.0.0.1', `Host: ${host}`)
    await send(port, bytes).catch(() => {})
  }
  const found = (): Span[] => bodies.flatMap((body) => spansOf(JSON.parse(body)))
  return {
    bodies,
    server,
    async spans(count) {
      while (found().length < count) await once(arrivals, 'body')
      return found()
    },
  }
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
}

function spansOf({ resourceSpans }: Traces): Span[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

/** The attributes of a span by their names. */
function attributesOf(span: Span): Record<string, unknown> {
  return Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

function get(target: string): RawRequest {
  return { target }
}

describe('The recipe for OpenTelemetry', () => {
  it('names the span of a request after its route', async (t) => {
    const { spans } = await collect(t, 'opentelemetry.js', [
      get('/news/view/id/1'),
      get('/news/view'),
    ])
    const found = await spans(2)
    assert.deepEqual(
      found.map((span) => [
        span.name,
        attributesOf(span)['http.route'],
        attributesOf(span)['http.response.status_code'],
        span.status.code,
      ]),
      [
        ['GET news/view', 'news/view', 200, 0],
        ['GET news/view', 'news/view', 404, 0],
      ],
    )
  })

  it('knows the route and the error of each kind of action, and no route of what is not routed', async (t) => {
    const actions = ['view', 'save', 'fail', 'reject']
    const { spans } = await collect(t, 'app.js', [
      ...actions.map((action) => get(`/news/${action}`)),
      get('/none/at-all'),
    ])
    const found = await spans(5)
    assert.deepEqual(
      found.map((span) => {
        const { 'http.route': route, 'error.type': type } = attributesOf(span)
        return [span.name, route, span.status.code, type]
      }),
      [
        ['GET news/view', 'news/view', 0, undefined],
        ['GET news/save', 'news/save', 0, undefined],
        ['GET news/fail', 'news/fail', ERROR, 'TypeError'],
        ['GET news/reject', 'news/reject', ERROR, 'RangeError'],
        ['GET', undefined, 0, undefined],
      ],
    )
    for (const span of found.slice(2)) {
      assert.match(String(attributesOf(span)['portico.id']), /^[\da-f-]{36}$/)
    }
  })

  it('exports no value of a request', async (t) => {
    const secret = 'canary5ecret'
    const query = `?code=${secret}&state=${secret}&q=${secret}&port=COLLECTOR`
    const headers: RawRequest['headers'] = [
      ['Cookie', `sid=${secret}`],
      ['Authorization', `Bearer ${secret}`],
      ['User-Agent', secret],
      ['Referer', `http://a/?code=${secret}`],
      ['Forwarded', `for=${secret};host=${secret}`],
      ['X-Forwarded-For', secret],
      ['X-Forwarded-Host', secret],
      ['Traceparent', `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`],
      ['Tracestate', `a=${secret}`],
      ['Baggage', `a=${secret}`],
      ['X-Request-Id', secret],
    ]
    const actions = ['view', 'save', 'fail', 'reject', 'cut', 'call', 'hang-up', secret]
    const form = `code=${secret}&password=${secret}`
    const requests = actions.flatMap((action): RawRequest[] => {
      const target = `/news/${action}/token/${secret}${query}`
      const type = ['Content-Type', 'application/x-www-form-urlencoded'] as const
      return [
        { target, headers },
        { method: 'POST', target, headers: [...headers, type], body: form },
      ]
    })
    requests.push({ target: `/${secret}${query}`, headers })
    requests.push({ target: `http://${secret}.example/news/view${query}`, headers })
    const { bodies, spans } = await collect(t, 'app.js', requests, `${secret}.example`)
    // Those of the requests, and one for each call of an action.
    const found = await spans(requests.length + 4)
    assert.equal(found.length, requests.length + 4)
    const served = found.filter(({ kind }) => kind !== CLIENT)
    assert.equal(served.length, requests.length)
    assert.ok(served.some(({ name }) => name === 'GET news/hang-up'))
    const statuses = served.map((span) => attributesOf(span)['http.response.status_code'])
    assert.deepEqual([...new Set(statuses)].sort(), [200, 404, 500])
    for (const body of bodies) assert.doesNotMatch(body, new RegExp(`${secret}|c{32}|d{16}`, 'i'))
    for (const { status } of found) assert.equal(status.message, undefined)
  })

  it('exports what is left when a program ends that shuts the SDK down', async (t) => {
    const { server, spans } = await collect(t, 'main.js', [get('/news/view/id/1')])
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
    assert.equal((await spans(1)).length, 1)
  })
})
