import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  assertPrivate,
  assertRedirect,
  cookieNames,
  depart,
  goBack,
  identityOf,
  ORIGIN,
  signInOnce,
  startHostileApp,
} from '../support/sign-in.ts'

const SIGN_OUT = `${ORIGIN}/elp/sign-out`

describe('The sign-out', () => {
  it('ends the session in this browser', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    const page = await client.send(SIGN_OUT, { method: 'POST' })
    assertRedirect(page, '/')
    assertPrivate(page)
    assert.deepEqual(cookieNames(client), [])
    assert.equal(await identityOf(client), null)
    assertRedirect(await client.send(SIGN_OUT, { method: 'POST' }), '/')
  })

  it('leads to `continue` of the form, else of the query', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const both = `${SIGN_OUT}?continue=/query`
    assertRedirect(await client.send(both, { form: { continue: '/form?a=b' } }), '/form?a=b')
    assertRedirect(await client.send(both, { form: { other: 'x' } }), '/query')
    assertRedirect(await client.send(both, { method: 'POST' }), '/query')
    assertRedirect(await client.send(SIGN_OUT, { form: { continue: '//evil.example' } }), '/')
  })

  it('comes from the own origin only', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    // '' removes a header.
    const table: [number, Record<string, string>][] = [
      [403, { 'sec-fetch-site': 'cross-site' }],
      [403, { 'sec-fetch-site': 'same-site' }],
      [403, { 'sec-fetch-site': 'none' }],
      [403, { 'sec-fetch-site': 'cross-site', origin: ORIGIN }],
      [403, { 'sec-fetch-site': '', origin: 'https://evil.example' }],
      [403, { 'sec-fetch-site': '', origin: 'null' }],
      [403, { 'sec-fetch-site': '', origin: 'http://news.example' }],
      [403, { 'sec-fetch-site': '', origin: `${ORIGIN}.evil.example` }],
      [403, { 'sec-fetch-site': '' }],
      [403, { 'sec-fetch-site': '', origin: 'https://evil.example', host: 'evil.example' }],
    ]
    for (const [status, headers] of table) {
      const page = await client.send(SIGN_OUT, { method: 'POST', headers })
      assert.equal(page.status, status, JSON.stringify(headers))
      assert.equal(page.headers['set-cookie'], undefined)
      assertPrivate(page)
    }
    assert.notEqual(await identityOf(client), null)
    const headers = { 'sec-fetch-site': '', origin: ORIGIN }
    assertRedirect(await client.send(SIGN_OUT, { method: 'POST', headers }), '/')
    assert.equal(await identityOf(client), null)
  })

  it('is a 405 for every other method', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      const page = await client.send(SIGN_OUT, { method })
      assert.equal(page.status, 405, method)
      assert.match(page.headers.allow ?? '', /POST/)
      assertPrivate(page)
    }
    assert.notEqual(await identityOf(client), null)
  })

  it('leaves a flow in another tab as it is', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const back = await depart(client)
    await client.send(SIGN_OUT, { method: 'POST' })
    assertRedirect(await goBack(client, back), '/')
  })
})
