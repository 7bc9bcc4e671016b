// node --test examples/sign-in/test/app.test.js

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { FrontController } from 'portico'
import { TestAgent } from 'portico/testing'
import { request } from 'undici'
import { startProvider } from './provider.js'

const ORIGIN = 'http://localhost:3000'

const provider = await startProvider()
after(() => provider.close())
const ADA = provider.user

Object.assign(process.env, {
  ORIGIN,
  GOOGLE_ISSUER: provider.issuer,
  GOOGLE_CLIENT_ID: 'client',
  GOOGLE_CLIENT_SECRET: 'client secret',
  SIGN_IN_SECRET: 'a secret of the tests: 32 bytes or more',
  ADMIN_EMAIL: 'ada@news.example',
})
// Not a static import: it would run before the environment is set.
const { default: options } = await import('../app.js')
const dispatcher = new TestAgent(new FrontController(options))
after(() => dispatcher.close())

/**
 * Opens a page of the application, as a browser does.
 * @param {string} path
 */
const open = (path, cookie = '') => send(path, { headers: { accept: 'text/html', cookie } })

/**
 * Sends a request to the application, and follows no redirect. `request` and not `fetch`, whose headers are those of a script.
 * @param {string} path
 * @param {{ method?: 'POST', headers?: Record<string, string> }} options
 */
async function send(path, options = {}) {
  const { statusCode, headers, body } = await request(new URL(path, ORIGIN), {
    dispatcher,
    ...options,
  })
  const cookies = [headers['set-cookie'] ?? []].flat().map((line) => line.split(';', 1)[0])
  const location = String(headers.location)
  return {
    status: statusCode,
    headers,
    location,
    cookie: cookies.join('; '),
    text: await body.text(),
  }
}

/**
 * Opens a guarded page, signs in, and returns where that ends.
 * @param {Partial<typeof provider.user>} user
 */
async function signInAs(user, path = '/account') {
  provider.user = { ...ADA, ...user }
  const guarded = await open(path)
  const begun = await open(guarded.location)
  const atProvider = await request(begun.location)
  const back = await open(String(atProvider.headers.location), begun.cookie)
  assert.equal(back.status, 303, back.text)
  return back
}

test('a user returns to the page that was asked for', async () => {
  const { location, cookie } = await signInAs({ name: 'Grace' }, '/account?tab=orders')
  assert.equal(location, '/account?tab=orders')
  const { provider, name } = JSON.parse((await open(location, cookie)).text)
  assert.deepEqual([provider, name], ['google', 'Grace'])
})

test('only administrators edit the news', async () => {
  const ada = await signInAs({})
  assert.equal((await open('/admin/news?id=1', ada.cookie)).text, 'Edit item 1')
  const bob = await signInAs({ sub: '2', email: 'bob@news.example' })
  assert.equal((await open('/admin/news?id=1', bob.cookie)).status, 403)
})

test('an email that is not verified makes nobody an administrator', async () => {
  const { cookie } = await signInAs({ email_verified: false })
  assert.equal((await open('/admin/news', cookie)).status, 403)
})

test('a script gets a 401 in place of a redirect', async () => {
  const { status, headers } = await send('/account')
  assert.deepEqual([status, headers['www-authenticate']], [401, 'Cookie realm="sign-in"'])
})

test('a user who signs out is a guest again', async () => {
  const { cookie } = await signInAs({})
  assert.match((await open('/', cookie)).text, /Hello Ada/)
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const signedOut = await send('/elp/sign-out', { method: 'POST', headers })
  assert.deepEqual([signedOut.status, signedOut.location], [303, '/'])
  assert.match((await open('/', signedOut.cookie)).text, /Sign in/)
})
