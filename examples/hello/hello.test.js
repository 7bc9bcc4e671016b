// node --test examples/hello/hello.test.js
//
// Run `npm ci && npm run build` first. The tests open no port: requests and responses are plain values.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest } from 'portico'
import { front } from './front.js'

describe('/hello/world', () => {
  it('greets by name', async () => {
    const response = await front.handle(new HttpRequest({ target: '/hello/world/name/Ada' }))
    assert.equal(response.status, 200)
    assert.equal(response.body, 'Hello, Ada!\n')
  })

  it('greets the world without a name', async () => {
    const { body } = await front.handle(new HttpRequest({ target: '/hello/world' }))
    assert.equal(body, 'Hello, world!\n')
  })

  it('responds with 404 to another action', async () => {
    const { status, exceptions } = await front.handle(new HttpRequest({ target: '/hello/moon' }))
    assert.equal(status, 404)
    assert.match(String(exceptions[0]), /Action "moon" does not exist/)
  })
})
