import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { FrontController, HttpRequest, type HttpResponse } from '../../lib/index.ts'
import { requestOf, signInOnce, startHostileApp } from '../support/sign-in.ts'

describe('auth.identity()', () => {
  it('unseals nothing without a cookie', async (t) => {
    const { auth, front } = await startHostileApp(t)
    const count = countDecryptions(t)
    await front.handle(new HttpRequest({ target: '/index/who' }))
    await front.handle(new HttpRequest({ target: '/index/who', headers: { cookie: 'theme=dark' } }))
    await front.handle(new HttpRequest({ target: '/admin', method: 'POST' }))
    assert.equal(await auth.identity(new HttpRequest({ target: '/' })), undefined)
    assert.equal(count(), 0)
  })

  it('unseals a session once a request, also for a guard and after a forward', async (t) => {
    const { auth, browser } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    const read: unknown[] = []
    const front = new FrontController({
      controllers: {
        elp: auth.controller,
        index: {
          first: async (request: HttpRequest) => {
            read.push(await auth.identity(request), await auth.identity(request))
            return request.forward({ action: 'second' })
          },
          second: async (request: HttpRequest, response: HttpResponse) => {
            read.push(await auth.identity(request))
            response.text('done')
          },
        },
      },
      plugins: [auth.guard(() => true)],
    })
    const count = countDecryptions(t)
    const response = await front.handle(requestOf(client, '/index/first'))
    assert.equal(response.status, 200)
    assert.equal(read.length, 3)
    for (const identity of read)
      assert.equal((identity as { subject: string }).subject, 'subject-5f2d81')
    assert.equal(count(), 1)
  })

  it('unseals no flow', async (t) => {
    const { auth, browser } = await startHostileApp(t)
    const client = browser()
    await client.send('https://news.example/elp/oauth.php?provider=hostile')
    const count = countDecryptions(t)
    assert.equal(await auth.identity(requestOf(client)), undefined)
    assert.equal(count(), 0)
  })
})

function countDecryptions(t: TestContext): () => number {
  const { mock } = t.mock.method(crypto.subtle, 'decrypt')
  return () => mock.callCount()
}
