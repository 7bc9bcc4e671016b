import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Browser, type Cookie, isRemoval } from '../support/browser.ts'
import { startHostileProvider } from '../support/hostile-provider.ts'
import { bytesOf, parse, send } from '../support/http.ts'
import {
  ADDRESS,
  type App,
  assertRedirect,
  beginning,
  cookieNames,
  depart,
  goBack,
  identityOf,
  ORIGIN,
  requestOf,
  SECRET,
  signInOnce,
  startApp,
  startHostileApp,
} from '../support/sign-in.ts'

describe('The cookies of a sign-in', () => {
  it('have the attributes that protect them, also when they are removed', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const begun = await client.send(`${ADDRESS}?provider=hostile`)
    const back = await depart(client)
    const returned = await goBack(client, back)
    const out = await client.send(`${ORIGIN}/elp/sign-out`, { method: 'POST' })
    const lines = [begun, returned, out].flatMap(({ headers }) => headers['set-cookie'] ?? [])
    assert.ok(lines.length >= 4, lines.join('\n'))
    assert.ok(lines.some(isRemoval))
    for (const line of lines) {
      assert.match(line, /^__Host-[\w.~-]+=/)
      const attributes = line.toLowerCase().split(/; */).slice(1)
      for (const each of ['path=/', 'secure', 'httponly', 'samesite=lax']) {
        assert.ok(attributes.includes(each), line)
      }
      assert.ok(!attributes.some((each) => each.startsWith('domain')), line)
    }
  })

  it('cannot be read', async (t) => {
    const { browser, provider } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    await depart(client)
    const values = [...client.cookies(ORIGIN).values()].map(({ value }) => value)
    assert.equal(values.length, 2)
    for (const value of values) {
      const decoded = value
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
      for (const secret of [...provider.secrets, 'continue', 'subject']) {
        assert.ok(![value, ...decoded].some((text) => text.includes(secret)), secret)
      }
    }
  })

  it('are not those that another host of the domain sets under a similar name', async (t) => {
    const { browser, port } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    const { name, value } = sessionOf(client)
    const whoIs = async (cookie: string) => {
      const head = bytesOf({ target: '/index/who', headers: [['Cookie', cookie]] })
      // Sent as bytes: a browser does not find the prefix `__Host-` after the byte A0.
      return parse(await send(port, Buffer.from(head, 'latin1'))).body
    }
    assert.match(await whoIs(`${name}=${value}`), /"subject"/)
    assert.equal(await whoIs(`\u00a0${name}=${value}`), 'null')
    assert.equal(await whoIs(`${name}\u00a0=${value}`), 'null')
  })

  it('are new at every sign-in', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const values = new Set<string>()
    for (let count = 0; count < 3; count++) {
      await signInOnce(client)
      values.add(sessionOf(client).value)
    }
    assert.equal(values.size, 3)
  })

  it('are no session if they were changed, cut, or made by others, and no error', async (t) => {
    const provider = await startHostileProvider(t)
    const providers = { hostile: provider.options }
    const { browser, reports } = await startApp(t, { providers })
    const foreign = await startApp(t, {
      providers,
      secrets: ['another secret of 32 bytes at least'],
    })
    const [client, stranger] = [browser(), foreign.browser()]
    await signInOnce(client)
    await signInOnce(stranger)
    const { name, value } = sessionOf(client)
    const changed = [
      ...Array.from({ length: 40 }, (_, index) =>
        changeAt(value, Math.floor((value.length * index) / 40)),
      ),
      ...[0, 1, 10, 100, value.length - 1].map((length) => value.slice(0, length)),
      `${value}A`,
      `${value}.`,
      value.split('.').reverse().join('.'),
      sessionOf(stranger).value,
      '{}',
      '%7B%7D',
      '"',
      'e30.e30.',
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`,
      'x'.repeat(4_000),
    ]
    for (const each of changed) {
      client.change(ORIGIN, name, each)
      assert.equal(await identityOf(client), null, each)
    }
    client.change(ORIGIN, name, value)
    assert.notEqual(await identityOf(client), null)
    assert.deepEqual(reports, [])
  })

  it('of a flow are no session, nor the reverse', async (t) => {
    const { browser, reports, provider } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    const session = sessionOf(client)
    const back = await depart(client)
    const [flow = ''] = cookieNames(client).filter((name) => name !== session.name)
    client.change(ORIGIN, session.name, client.cookies(ORIGIN).get(flow)?.value ?? '')
    assert.equal(await identityOf(client), null)
    client.change(ORIGIN, flow, session.value)
    const before = provider.requestsTo('token').length
    assert.equal((await goBack(client, back)).status, 400)
    assert.equal(provider.requestsTo('token').length, before)
    assert.equal(reports.length, 1)
  })

  it('with a session end after sessionTtlMs, counted from the sign-in', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { browser } = await startHostileApp(t, {}, { sessionTtlMs: 100_000 })
    const client = browser()
    await signInOnce(client)
    for (const step of [40_000, 40_000, 18_000]) {
      t.mock.timers.tick(step)
      assert.notEqual(await identityOf(client), null)
    }
    t.mock.timers.tick(3_000)
    assert.equal(await identityOf(client), null)
  })

  it('last for 12 hours by default', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { browser } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    t.mock.timers.tick(12 * 3_600_000 - 2_000)
    assert.notEqual(await identityOf(client), null)
    t.mock.timers.tick(4_000)
    assert.equal(await identityOf(client), null)
  })

  it('are opened by all secrets, and sealed by the first', async (t) => {
    const provider = await startHostileProvider(t)
    const providers = { hostile: provider.options }
    const next = new Uint8Array(32).fill(7)
    const start = (secrets: (string | Uint8Array)[]) => startApp(t, { providers, secrets })
    const [before, during, after] = [
      await start([SECRET]),
      await start([next, SECRET]),
      await start([next]),
    ]
    const [old, fresh] = [before.browser(), during.browser()]
    await signInOnce(old)
    await signInOnce(fresh)
    const opens = async (app: App, from: Browser): Promise<boolean> => {
      const client = app.browser()
      client.cookies(ORIGIN).set(sessionOf(from).name, sessionOf(from))
      return (await identityOf(client)) !== null
    }
    assert.deepEqual([await opens(during, old), await opens(after, old)], [true, false])
    assert.deepEqual([await opens(before, fresh), await opens(after, fresh)], [false, true])
  })

  it('are no session if the provider is not configured any more', async (t) => {
    const provider = await startHostileProvider(t)
    const before = await startApp(t, {
      providers: { former: provider.options, hostile: provider.options },
    })
    const after = await startApp(t, { providers: { hostile: provider.options } })
    for (const [name, status] of [
      ['former', 401],
      ['hostile', 200],
    ] as const) {
      const [old, client] = [before.browser(), after.browser()]
      await signInOnce(old, beginning(name))
      client.cookies(ORIGIN).set(sessionOf(old).name, sessionOf(old))
      assert.equal((await identityOf(client))?.provider, status === 200 ? name : undefined)
      assert.equal((await client.send(`${ORIGIN}/admin`, { method: 'POST' })).status, status)
    }
  })

  it('are no session of a sign-in at another path', async (t) => {
    const provider = await startHostileProvider(t)
    const providers = { hostile: provider.options }
    const elsewhere = await startApp(t, { providers, path: '/staff/oauth.php' })
    const { browser } = await startApp(t, { providers })
    const client = browser()
    await signInOnce(client)
    const request = requestOf(client)
    assert.equal(await elsewhere.auth.identity(request), undefined)
  })

  it('are at most 4,096 bytes: a longer session is a 500 whose report says so', async (t) => {
    let length = 1_000
    const { browser, reports } = await startHostileApp(
      t,
      {},
      { onSignIn: () => 'x'.repeat(length) },
    )
    assertRedirect(await signInOnce(browser()), '/')
    length = 4_000
    const client = browser()
    assert.equal((await signInOnce(client)).status, 500)
    assert.deepEqual(cookieNames(client), [])
    assert.match(String(reports[0]?.message), /4,?096/)
  })

  it('hold the JSON form of "data", and nothing that has none', async (t) => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    let data: unknown = { toJSON: () => ({ role: 'admin' }) }
    const { browser, reports } = await startHostileApp(t, {}, { onSignIn: () => data })
    const client = browser()
    assertRedirect(await signInOnce(client), '/')
    assert.deepEqual((await identityOf(client))?.data, { role: 'admin' })
    data = circle
    assert.equal((await signInOnce(browser())).status, 500)
    assert.match(String(reports[0]?.message), /JSON/)
  })

  it('of an earlier session stay if a sign-in of others is forced on the browser', async (t) => {
    const { browser, provider } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    const before = sessionOf(client)
    provider.faults = { callback: (each) => each.set('state', 'A'.repeat(43)) }
    assert.equal((await signInOnce(client)).status, 400)
    assert.deepEqual(client.cookies(ORIGIN).get(before.name), before)
  })
})

// After a sign-in, a browser has no other cookie.
function sessionOf(browser: Browser): Cookie {
  const [cookie, ...others] = browser.cookies(ORIGIN).values()
  assert.ok(cookie && others.length === 0)
  return cookie
}

function changeAt(text: string, index: number): string {
  return `${text.slice(0, index)}${text[index] === 'A' ? 'Q' : 'A'}${text.slice(index + 1)}`
}
