import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isLocal, isLoopback } from '../../lib/http/loopback.ts'
import { HttpRequest } from '../../lib/http/request.ts'

describe('isLoopback()', () => {
  it('accepts localhost and the loopback addresses', () => {
    for (const host of [
      ...['localhost', 'LOCALHOST', 'news.localhost', '127.0.0.1', '127.8.9.1'],
      ...['::1', '[::1]', '::ffff:127.0.0.1', '0:0:0:0:0:0:0:1'],
    ]) {
      assert.equal(isLoopback(host), true, host)
    }
  })

  it('rejects every other host', () => {
    for (const host of [
      ...['', '0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '::2', '::ffff:10.0.0.1'],
      ...['127.0.0.1.example.org', 'localhost.example.org', 'notlocalhost', '127.1', '2130706433'],
    ]) {
      assert.equal(isLoopback(host), false, host)
    }
  })
})

describe('isLocal()', () => {
  const isLocalWith = (headers: Record<string, string>, remoteAddress = '127.0.0.1'): boolean =>
    isLocal(new HttpRequest({ target: '/', headers, remoteAddress }))

  it('accepts a request from this machine for this machine', () => {
    assert.equal(isLocalWith({ host: 'localhost:3000' }), true)
    assert.equal(isLocalWith({ host: '127.0.0.1' }, '::ffff:127.0.0.1'), true)
    assert.equal(isLocalWith({ host: '[::1]:3000', accept: 'text/html' }, '::1'), true)
  })

  it('rejects a request from another machine, or from an unknown one', () => {
    for (const address of ['10.0.0.1', '::ffff:192.168.0.9', '2001:db8::1', '']) {
      assert.equal(isLocalWith({ host: 'localhost' }, address), false, address)
    }
    assert.equal(isLocal(new HttpRequest({ target: '/', headers: { host: 'localhost' } })), false)
  })

  it('rejects a request through a proxy on this machine', () => {
    // biome-ignore format: a table
    const names = ['X-Forwarded-For', 'x-forwarded-proto', 'Forwarded', 'Via', 'X-Real-IP', 'CF-Connecting-IP', 'True-Client-IP', 'CDN-Loop', 'X-Client-IP', 'X-Original-Host', 'Fastly-Client-IP', 'X-Envoy-External-Address', 'X-Forwarded', 'Forwarded-For', 'Client-IP', 'X-Azure-ClientIP', 'X-ProxyUser-Ip', 'X-Scheme']
    for (const name of names) {
      assert.equal(isLocalWith({ host: 'localhost', [name]: '127.0.0.1' }), false, name)
    }
  })

  it('rejects a request for another host: a tunnel, or DNS rebinding', () => {
    for (const host of ['news.example', '127.0.0.1.example', 'abc.ngrok.app:443', '']) {
      assert.equal(isLocalWith({ host }), false, host)
    }
    assert.equal(isLocalWith({}), false)
    // The host of an absolute target replaces the header.
    const init = { headers: { host: 'localhost' }, remoteAddress: '127.0.0.1' }
    for (const [host, expected] of [
      ['news.example', false],
      ['127.0.0.1:3000', true],
    ] as const) {
      assert.equal(isLocal(new HttpRequest({ target: `http://${host}/`, ...init })), expected, host)
    }
  })
})
