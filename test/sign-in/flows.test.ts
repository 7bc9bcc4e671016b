import assert from 'node:assert/strict'
import crypto, { webcrypto } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { describe, it, type TestContext } from 'node:test'
import { HttpError, HttpRequest } from '../../lib/index.ts'
import type { SignInOptions } from '../../lib/sign-in.ts'
import type { Browser } from '../support/browser.ts'
import { type Faults, sendJson } from '../support/hostile-provider.ts'
import {
  assertRedirect,
  beginning,
  cookieNames,
  depart,
  goBack,
  identityOf,
  ORIGIN,
  signInOnce,
  startHostileApp,
} from '../support/sign-in.ts'

describe('The flows of a browser', () => {
  it('are up to five side by side, which end in any order', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const returns = await departures(client, 5)
    for (const index of [3, 0, 4, 2, 1]) {
      assertRedirect(await goBack(client, returns[index] as URL), `/tab/${index}`)
    }
  })

  it('are five, so that the oldest gives way', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const returns = await departures(client, 7)
    const statuses: number[] = []
    for (const back of returns) statuses.push((await goBack(client, back)).status)
    assert.deepEqual(statuses, [400, 400, 303, 303, 303, 303, 303])
  })

  it('have a cookie each, which has at most 2,048 bytes', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    for (const path of ['a'.repeat(1_023), '"'.repeat(1_023), '\u00e4'.repeat(170)]) {
      await depart(client, beginning('hostile', { continue: `/${path}` }))
    }
    const cookies = [...client.cookies(ORIGIN).values()]
    assert.equal(cookies.length, 3)
    for (const { name, value } of cookies) assert.ok(name.length + value.length <= 2_048)
  })

  it('fit into one request if 50 begin at once', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    await Promise.all(Array.from({ length: 50 }, () => client.send(beginning())))
    assert.equal(cookieNames(client).length, 50)
    assert.equal((await client.send(`${ORIGIN}/index/who`)).status, 200)
  })

  it('open the last eight cookies at most, and remove the others', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const kept = await depart(client)
    const [[name, cookie] = fail(new Error('no cookie'))] = client.cookies(ORIGIN)
    client.cookies(ORIGIN).clear()
    for (let index = 0; index < 40; index++) {
      const hostile = `${name.slice(0, -16)}${String(index).padStart(16, '0')}`
      client.cookies(ORIGIN).set(hostile, { ...cookie, name: hostile })
    }
    const opened = t.mock.method(webcrypto.subtle, 'decrypt')
    await depart(client)
    assert.equal(opened.mock.callCount(), 8)
    // Four of the eight flows stay, and the new one is added.
    assert.equal(cookieNames(client).length, 5)
    assert.equal((await goBack(client, kept)).status, 400)
  })

  it('remove at most 64 cookies at once', async (t) => {
    const { front } = await startHostileApp(t)
    const names = Array.from({ length: 400 }, (_, i) => `sign-in.${String(i).padStart(16, '0')}=`)
    const cookie = names.map((name) => `__Host-${name}`).join(';')
    const request = new HttpRequest({
      target: beginning().replace(ORIGIN, ''),
      headers: { cookie },
    })
    const { headers, status } = await front.handle(request)
    const lines = [...headers].flatMap(([name, value]) => (name === 'Set-Cookie' ? value : []))
    assert.equal(status, 303)
    assert.ok(lines.length <= 65, String(lines.length))
  })

  it('are bound to a cookie of their own', async (t) => {
    const { browser, provider } = await startHostileApp(t)
    const client = browser()
    const first = await depart(client)
    const [name = ''] = cookieNames(client)
    const second = await depart(client)
    const [other = ''] = cookieNames(client).filter((each) => each !== name)
    // Sends the cookie of the second flow under the name of the first one.
    client.change(ORIGIN, name, client.cookies(ORIGIN).get(other)?.value ?? '')
    client.cookies(ORIGIN).delete(other)
    for (const back of [first, second]) assert.equal((await goBack(client, back)).status, 400)
    assert.deepEqual(provider.requestsTo('token'), [])
  })

  it('touch no cookie if the state fits none of them', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    const back = await depart(client)
    const before = [...client.cookies(ORIGIN)]
    const foreign = new URL(back)
    foreign.searchParams.set('state', 'B'.repeat(43))
    const page = await goBack(client, foreign)
    assert.equal(page.status, 400)
    assert.equal(page.headers['set-cookie'], undefined)
    assert.deepEqual([...client.cookies(ORIGIN)], before)
    assertRedirect(await goBack(client, back), '/')
  })

  it('compare the state in constant time', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const back = await depart(client)
    const compared: string[] = []
    const original = crypto.timingSafeEqual
    mockBuiltin(t, (left, right) => {
      compared.push(
        Buffer.from(left as Buffer).toString(),
        Buffer.from(left as Buffer).toString('base64url'),
      )
      return original(left, right)
    })
    assertRedirect(await goBack(client, back), '/')
    assert.notEqual(compared.length, 0)
  })

  const endings: Record<string, [number, Faults, Partial<SignInOptions>?]> = {
    'after a success': [303, {}],
    'after a rejection by the user': [403, { callback: failWith('access_denied') }],
    'after an error of the provider': [502, { callback: failWith('server_error') }],
    'after a wrong iss': [400, { callback: (each) => each.set('iss', 'https://other.example') }],
    'with neither code nor error': [400, { callback: (each) => each.delete('code') }],
    'after a fault of the token endpoint': [
      502,
      { token: () => (response) => sendJson(response, 500, {}) },
    ],
    'after a fault of the userinfo endpoint': [
      502,
      { userinfo: () => (response) => void response.destroy() },
    ],
    'if onSignIn throws an HttpError': [402, {}, { onSignIn: () => fail(new HttpError(402)) }],
    'if onSignIn throws an Error': [500, {}, { onSignIn: () => fail(new Error('x')) }],
    'if onSignIn throws another value': [500, {}, { onSignIn: () => fail(null) }],
    'if the session is too long': [500, {}, { onSignIn: () => 'x'.repeat(5_000) }],
    'if the session is no JSON': [500, {}, { onSignIn: () => 1n as never }],
  }
  for (const [when, [status, faults, options]] of Object.entries(endings)) {
    it(`end ${when}, and only once`, async (t) => {
      const { browser } = await startHostileApp(t, faults, options)
      const client = browser()
      const back = await depart(client)
      assert.equal((await goBack(client, back)).status, status)
      // Only the session is left.
      assert.equal(cookieNames(client).length, status === 303 ? 1 : 0)
      assert.equal((await goBack(client, back)).status, 400)
      assert.equal((await identityOf(client)) !== null, status === 303)
    })
  }
})

async function departures(client: Browser, count: number): Promise<URL[]> {
  const returns: URL[] = []
  for (let index = 0; index < count; index++) {
    returns.push(await depart(client, beginning('hostile', { continue: `/tab/${index}` })))
  }
  return returns
}

function failWith(error: string): (parameters: URLSearchParams) => void {
  return (parameters) => {
    parameters.delete('code')
    parameters.set('error', error)
  }
}

function fail(thrown: unknown): never {
  throw thrown
}

// The replacement also holds for code that has imported the function by its name.
function mockBuiltin(t: TestContext, replacement: typeof crypto.timingSafeEqual): void {
  t.mock.method(crypto, 'timingSafeEqual', replacement)
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}
