import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController, HttpRequest, type HttpResponse } from '../../lib/index.ts'

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
