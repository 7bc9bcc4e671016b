import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isOwnHost } from '../../lib/observe/own-host.ts'

describe('isOwnHost()', () => {
  const configured = 'Ops.Example.com'
  const own = [
    undefined,
    'localhost',
    'LOCALHOST:3001',
    'app.localhost:3001',
    '127.0.0.1',
    '192.0.2.7:3001',
    '[::1]:3001',
    '[2001:db8::1]',
    'portico:3001',
    'portico.:3001',
    'portico.shop.svc.cluster.local:3001',
    'node-1.internal',
    'ops.example.com:3001',
    'ops.example.com.',
  ]
  const foreign = [
    'evil.example',
    'evil.example:3001',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evilinternal.example',
    'evil-internal.com',
    'printer.local',
    'sub.ops.example.com',
    '1.2.3.4.5',
    'evil.example:3001:3001',
  ]

  it('accepts addresses, names that are not public, and the configured host', () => {
    for (const host of own) assert.equal(isOwnHost(host, configured), true, host)
  })

  it('rejects every other name: it may have been rebound to the address of the server', () => {
    for (const host of foreign) assert.equal(isOwnHost(host, configured), false, host)
  })
})
