import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController, HttpRequest, type HttpResponse } from '../../lib/index.ts'
import type { Send } from '../support/browser.ts'
import { startHostileProvider } from '../support/hostile-provider.ts'
import {
  assertRedirect,
  beginning,
  depart,
  goBack,
  ORIGIN,
  signInOnce,
  startApp,
  startHostileApp,
} from '../support/sign-in.ts'

const ADMIN = `${ORIGIN}/admin/index/index?b=c&d=%26`

describe('The guard', () => {
  it('leads a navigation through the sign-in to the page that was requested', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const back = await depart(client, ADMIN)
    const page = await goBack(client, back)
    assertRedirect(page, '/admin/index/index?b=c&d=%26')
    assert.equal((await client.send(ADMIN)).body, 'secret')
  })

  it('redirects navigations, and rejects everything else', async (t) => {
    const { browser, reports } = await startHostileApp(t)
    const fetchHeaders = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
    const table: [number, Send][] = [
      [303, {}],
      [303, { method: 'HEAD' }],
      [303, { headers: { 'sec-fetch-mode': '', accept: 'text/html' } }],
      [303, { headers: { 'sec-fetch-mode': 'navigate', accept: '*/*' } }],
      [401, { method: 'POST' }],
      [401, { method: 'PUT' }],
      [401, { headers: fetchHeaders }],
      [401, { headers: { ...fetchHeaders, accept: 'text/html' } }],
      [401, { headers: { 'sec-fetch-mode': 'no-cors' } }],
      [401, { headers: { 'sec-fetch-mode': '', accept: 'application/json' } }],
      [401, { headers: { 'sec-fetch-mode': '', accept: '*/*' } }],
      [401, { headers: { 'sec-fetch-mode': '', accept: '' } }],
    ]
    for (const [status, init] of table) {
      const page = await browser().send(ADMIN, init)
      assert.equal(page.status, status, JSON.stringify(init))
      assert.doesNotMatch(page.body, /secret/)
      assert.equal(page.headers['cache-control'], 'no-store')
      if (status === 303) assert.equal(page.headers['www-authenticate'], undefined)
      else assert.equal(page.headers['www-authenticate'], 'Cookie realm="sign-in"')
    }
    assert.equal(reports.length, table.filter(([status]) => status === 401).length)
  })

  it('keeps what a signed-in user sees out of caches, unless the action decides', async (t) => {
    let cached: string | undefined
    const plugin = {
      postDispatch(_: HttpRequest, response: HttpResponse) {
        if (cached !== undefined) response.headers.set('Cache-Control', cached)
      },
    }
    const { browser } = await startHostileApp(t, {}, {}, { plugins: [plugin] })
    const client = browser()
    await signInOnce(client)
    const shown = async (url: string) => (await client.send(url)).headers['cache-control']
    assert.equal(await shown(ADMIN), 'private, no-store')
    assert.equal(await shown(`${ORIGIN}/index/index`), undefined)
    cached = 'private, max-age=60'
    assert.equal(await shown(ADMIN), cached)
  })

  it('lets a signed-in user pass', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    await signInOnce(client)
    for (const init of [{}, { method: 'POST' }, { headers: { 'sec-fetch-mode': 'cors' } }]) {
      assert.equal((await client.send(ADMIN, init)).body, 'secret')
    }
  })

  it('holds for a forward, of an action or of a plugin before it', async (t) => {
    const toAdmin = (request: HttpRequest): HttpRequest =>
      request.forward({ module: 'admin', controller: 'index', action: 'index' })
    const { options } = await startHostileProvider(t)
    const { auth } = await startApp(t, { providers: { hostile: options } })
    const front = new FrontController({
      controllers: { elp: auth.controller, jump: { index: toAdmin, other: () => undefined } },
      modules: {
        admin: {
          index: {
            index: (_: HttpRequest, response: HttpResponse) => void response.text('secret'),
          },
        },
      },
      plugins: [
        { preDispatch: (each) => (each.action === 'other' ? toAdmin(each) : undefined) },
        auth.guard(({ module }) => module === 'admin'),
      ],
    })
    for (const target of ['/admin', '/jump', '/jump/other']) {
      const response = await front.handle(new HttpRequest({ target, method: 'POST' }))
      assert.equal(response.status, 401, target)
    }
  })

  it('compares the registered names, however a client spells them', async (t) => {
    const { options } = await startHostileProvider(t)
    const { auth } = await startApp(t, { providers: { hostile: options } })
    const show = (_: HttpRequest, response: HttpResponse) => void response.text('secret')
    const guards: [(request: HttpRequest) => boolean, string[]][] = [
      [
        ({ module }) => module === 'admin',
        ['/admin', '/Admin', '/ADMIN/index/index', '/ADMIN/nope', '/AdMin/Call/x'],
      ],
      [
        ({ controller }) => controller === 'my-account',
        ['/my-account', '/My-Account', '/my-ac!count/edit', '/.MY.account/nope'],
      ],
      [
        ({ action }) => action === 'edit-all',
        ['/index/edit-all', '/Index/EDIT-all', '/index/e_dit.ALL', '/index/.edit--a!ll'],
      ],
    ]
    for (const names of ['exact', 'zf1'] as const) {
      for (const [isGuarded, [registered, ...others]] of guards) {
        const front = new FrontController({
          names,
          controllers: {
            index: { editAll: show },
            'my-account': { index: show, edit: show, get: show },
          },
          modules: { admin: { index: { index: show }, call: { __call: show } } },
          routes: { resources: { rest: { default: ['my-account', 'My-Account'] } } },
          plugins: [auth.guard(isGuarded)],
        })
        const statusOf = async (target = '', method = 'POST') =>
          (await front.handle(new HttpRequest({ target, method }))).status
        assert.equal(await statusOf(registered), 401)
        for (const target of others) {
          const expected = names === 'zf1' ? 401 : 404
          assert.equal(await statusOf(target), expected, `${names} ${target}`)
          const allowed = await statusOf(target, 'OPTIONS')
          assert.equal(allowed, expected, `OPTIONS ${names} ${target}`)
        }
      }
    }
  })

  it('compares the name that "__call" receives as a URL spells it', async (t) => {
    const { options } = await startHostileProvider(t)
    const { auth } = await startApp(t, { providers: { hostile: options } })
    const front = new FrontController({
      names: 'zf1',
      controllers: {
        index: { __call: (_: HttpRequest, response: HttpResponse) => void response.text('secret') },
      },
      plugins: [auth.guard(({ action }) => action === 'edit-all')],
    })
    for (const target of ['/index/edit-all', '/index/EDIT-all', '/Index/e_dit.ALL']) {
      const { status } = await front.handle(new HttpRequest({ target, method: 'POST' }))
      assert.equal(status, 401, target)
    }
  })

  it('never guards the address, the sign-out and the error page', async (t) => {
    const { browser } = await startHostileApp(t, {}, {}, { guarded: () => true })
    const client = browser()
    assert.equal((await client.send(beginning())).status, 303)
    assert.equal((await client.send(beginning('nobody'))).status, 404)
    assertRedirect(await client.send(`${ORIGIN}/elp/sign-out`, { method: 'POST' }), '/')
    const rejected = await client.send(`${ORIGIN}/a/b`, { method: 'POST' })
    assert.equal(rejected.status, 401)
    assert.match(rejected.body, /<!doctype html>/)
    assertRedirect(await signInOnce(client, beginning('hostile', { continue: '/index' })), '/index')
  })

  it('begins with the provider of its option', async (t) => {
    const provider = await startHostileProvider(t)
    const providers = { first: provider.options, second: provider.options }
    const { auth } = await startApp(t, { providers })
    const guards = [
      [auth.guard(() => true), 'first'],
      [auth.guard(() => true, { provider: 'second' }), 'second'],
    ] as const
    for (const [guard, name] of guards) {
      const app = await startApp(t, { providers }, { plugins: [guard] })
      const { location } = await app.browser().send(`${ORIGIN}/index`)
      assert.match(location?.href ?? '', new RegExp(`provider(?:=|%3D)${name}`))
    }
    assert.throws(() => auth.guard(() => true, { provider: 'nobody' }), /TypeError.*nobody/s)
  })
})
