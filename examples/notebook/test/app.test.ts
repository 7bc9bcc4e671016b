import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController, HttpRequest } from 'portico'
import options from '../app.ts'

const front = new FrontController(options)

describe('The notebook', () => {
  it('saves the text of a form', async () => {
    const response = await front.handle(
      new HttpRequest({
        method: 'POST',
        target: '/notes/save',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
        },
        body: 'text=Tea+%26+cake',
      }),
    )
    assert.equal(response.status, 303)
    const target = String(response.headers.get('Location'))
    const { body } = await front.handle(new HttpRequest({ target }))
    assert.match(String(body), /Tea &amp; cake/)
  })

  it('remembers the theme in a cookie', async () => {
    const headers = { cookie: 'theme=dark' }
    const { body } = await front.handle(new HttpRequest({ target: '/notes', headers }))
    assert.match(String(body), /class="dark"/)
  })

  it('requires a password for the admin area', async () => {
    const method = 'POST'
    const target = '/admin/notes/clear'
    const headers = { 'sec-fetch-site': 'same-origin' }
    const rejected = await front.handle(new HttpRequest({ method, target, headers }))
    assert.equal(rejected.status, 401)
    assert.equal(rejected.headers.get('WWW-Authenticate'), 'Basic')
    const authorization = `Basic ${btoa('admin:correct horse')}`
    const signedIn = { ...headers, authorization }
    const allowed = await front.handle(new HttpRequest({ method, target, headers: signedIn }))
    assert.equal(allowed.status, 303)
  })
})
