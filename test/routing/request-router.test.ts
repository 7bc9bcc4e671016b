import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  FrontController,
  type FrontControllerOptions,
  HttpRequest,
  type HttpResponse,
} from '../../lib/index.ts'

const front = new FrontController({
  controllers: new Map([
    [
      'news',
      {
        list(request: HttpRequest, response: HttpResponse): void {
          response.json([request.path, request.q, request.param('id') ?? null])
        },
      },
    ],
  ]),
})

async function answer(target: string): Promise<[status: number, body: unknown]> {
  const { status, body } = await front.handle(new HttpRequest({ target }))
  return [status, status === 200 ? JSON.parse(String(body)) : undefined]
}

describe('A path that is remembered', () => {
  it('is routed as the first time, and its query is parsed again', async () => {
    for (const id of ['1', '2', '3']) {
      assert.deepEqual(await answer(`/news/list?id=${id}`), [200, ['/news/list', '/news/list', id]])
      assert.deepEqual(await answer('/news/list/id/%31'), [
        200,
        ['/news/list/id/%31', '/news/list/id/1', '1'],
      ])
    }
  })

  it('is rejected for what follows it, as the first time', async () => {
    const tooMany = `?${'a&'.repeat(1_001)}`
    const tooLong = `?a=${'b'.repeat(9_000)}`
    for (let i = 0; i < 2; i++) {
      assert.deepEqual((await answer('/news/list'))[0], 200)
      assert.deepEqual((await answer('/news/list?a=#b'))[0], 400)
      assert.deepEqual((await answer('/news/list#b'))[0], 400)
      assert.deepEqual((await answer(`/news/list${tooMany}`))[0], 400)
      assert.deepEqual((await answer(`/news/list${tooLong}`))[0], 414)
      assert.deepEqual((await answer('/news/list%FF'))[0], 400)
    }
  })

  it('is routed after more paths than the memo holds', async () => {
    for (let i = 0; i < 2_500; i++) {
      const [status, body] = await answer(`/news/list/id/${i % 1_250}`)
      assert.deepEqual([status, (body as string[])[2]], [200, String(i % 1_250)])
    }
  })
})

describe('A path that is rewritten for a plugin', () => {
  const handle = async (t: TestContext, target: string, options: FrontControllerOptions = {}) => {
    const decode = t.mock.method(globalThis, 'decodeURIComponent')
    const seen: string[] = []
    const plugin = {
      routeStartup: (request: HttpRequest) => void seen.push(request.q),
      routeShutdown: (request: HttpRequest) => void seen.push(request.q, request.controller),
    }
    const controllers = new Map([['news', { list() {} }]])
    const front = new FrontController({ controllers, plugins: [plugin], ...options })
    const { status } = await front.handle(new HttpRequest({ target }))
    return { status, seen, decoded: decode.mock.calls.map(({ arguments: [text] }) => text) }
  }

  it('is not rewritten again when it is routed', async (t) => {
    for (const [target, status, q, controller] of [
      ['/news/list/%C3%BC', 200, '/news/list/ü', 'news'],
      [`/news/list/%C3%BC${'a'.repeat(200)}`, 200, `/news/list/ü${'a'.repeat(200)}`, 'news'],
      ['/news/list/%FF', 400, '/news/list/%FF', 'news'],
      ['/nosuch/%C3%BC', 404, '/nosuch/ü', 'nosuch'],
    ] as const) {
      const { decoded, ...facts } = await handle(t, target)
      assert.deepEqual(facts, { status, seen: [q, q, controller] })
      assert.equal(decoded.filter((text) => text === target).length, 1, target)
      t.mock.restoreAll()
    }
  })

  it('is rewritten again for another front controller', async () => {
    const controllers = new Map([['news', { list() {} }]])
    const inner = new FrontController({ controllers, basePath: '/app' })
    const statuses: number[] = []
    const routeStartup = async (request: HttpRequest): Promise<void> => {
      statuses.push((await inner.handle(request)).status)
    }
    const outer = new FrontController({ controllers, plugins: [{ routeStartup }] })
    for (const target of ['/news/list', '/app/news/list', '/news/list']) {
      await outer.handle(new HttpRequest({ target }))
    }
    assert.deepEqual(statuses, [404, 200, 404])
  })
})
