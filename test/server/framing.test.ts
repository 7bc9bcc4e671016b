import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_HEADER_LIMITS, readFraming } from '../../lib/server/framing.ts'

type Field = readonly [name: string, value: string]
type Rejection = readonly [status: number, message: string]

const host: Field = ['Host', 'a']
const missing: Rejection = [400, 'The header "Host" is missing']
const duplicate: Rejection = [400, 'More than one header "Host"']
const malformed: Rejection = [400, 'The header "Host" is malformed']
const version: Rejection = [505, 'Expected HTTP/1.1 or HTTP/1.0']
const coding: Rejection = [501, 'Expected the transfer coding "chunked"']
const lengths: Rejection = [400, 'The request has both "Content-Length" and "Transfer-Encoding"']

describe('readFraming()', () => {
  const table: [
    what: string,
    version: string,
    fields: Field[],
    rejection: Rejection | undefined,
  ][] = [
    ['a plain request', '1.1', [host], undefined],
    ['a request of HTTP/1.0 without a host', '1.0', [], undefined],
    ['a request of HTTP/1.0 with two hosts', '1.0', [host, host], duplicate],
    ['no host', '1.1', [['X', 'a']], missing],
    ['two equal hosts', '1.1', [host, host], duplicate],
    ['two hosts in names of different case', '1.1', [host, ['HOST', 'b']], duplicate],
    ['HTTP/0.9', '0.9', [host], version],
    ['HTTP/2.0', '2.0', [host], version],
    ['chunks', '1.1', [host, ['Transfer-Encoding', 'Chunked']], undefined],
    ['a length', '1.1', [host, ['Content-Length', '3']], undefined],
    ['another coding', '1.1', [host, ['Transfer-Encoding', 'gzip']], coding],
    ['a list of codings', '1.1', [host, ['Transfer-Encoding', 'gzip, chunked']], coding],
    ['chunks with a space', '1.1', [host, ['Transfer-Encoding', 'chunked ']], coding],
    [
      'two codings',
      '1.1',
      [host, ['Transfer-Encoding', 'chunked'], ['transfer-encoding', 'chunked']],
      coding,
    ],
    [
      'a length and chunks',
      '1.1',
      [host, ['content-length', '3'], ['transfer-encoding', 'chunked']],
      lengths,
    ],
    [
      'chunks in HTTP/1.0',
      '1.0',
      [host, ['Transfer-Encoding', 'chunked']],
      [400, 'HTTP/1.0 has no transfer codings'],
    ],
  ]
  for (const [what, httpVersion, fields, rejection] of table) {
    it(`${rejection === undefined ? 'accepts' : `rejects with ${rejection[0]}`}: ${what}`, () => {
      assert.deepEqual(rejectionOf(httpVersion, fields), rejection)
    })
  }

  it('accepts a name or an address with a port as host, and rejects anything else', () => {
    const good = [
      'a',
      'a.example',
      'a:80',
      'a:',
      '127.0.0.1:3000',
      '[::1]',
      '[::1]:80',
      'x_y',
      'a~b',
    ]
    for (const value of good) assert.equal(rejectionOf('1.1', [['Host', value]]), undefined, value)
    // biome-ignore format: a table
    const bad = ['', ' ', 'a b', 'a/b', 'a@b', 'a:b', 'a:80:80', 'a:999999', 'a?b', 'a#b', '[::1', '::1', 'http://a', 'a,b', 'a,b c', 'a\\b', 'a"b', 'a<b>', 'grün', '[a]x']
    for (const value of bad)
      assert.deepEqual(rejectionOf('1.1', [['Host', value]]), malformed, value)
  })

  it('checks the host of a target in the absolute form', () => {
    const rejectionFor = (url: string): Rejection | undefined => rejectionOf('1.1', [host], url)
    for (const url of [
      'http://a/t',
      'http://a:80/t',
      'HTTP://[::1]:/',
      'https://a?b',
      '*',
      'a:80',
    ]) {
      assert.equal(rejectionFor(url), undefined, url)
    }
    const rejection = [400, 'The host of the request target is malformed']
    for (const url of [
      'http://anna:s3cr3tpw/t',
      'http://a:80:80/t',
      'http://a b/t',
      'ftp://x:y:z/t',
      'http:///t',
      'http://?a',
      'http://u@a/t',
      'http://u:p@a:80/t',
      'http://u@b@a/t',
      'ftp://a/t',
      'httpx://a/t',
    ]) {
      assert.deepEqual(rejectionFor(url), rejection, url)
    }
  })

  it('accepts 100 fields, and rejects 101', () => {
    const fields = (count: number): Field[] => [host, ...Array(count - 1).fill(['X', ''])]
    assert.equal(rejectionOf('1.1', fields(100)), undefined)
    const rejection = [431, 'The request has more than 100 header fields']
    assert.deepEqual(rejectionOf('1.1', fields(101)), rejection)
  })

  it('knows no length of a body after too many fields', () => {
    const bytes = (count: number): number | undefined =>
      readFraming(
        { httpVersion: '1.1', rawHeaders: [host, ...Array(count - 1).fill(['X', ''])].flat() },
        DEFAULT_HEADER_LIMITS,
      ).bodyBytes
    assert.deepEqual([bytes(100), bytes(101)], [0, undefined])
  })

  it('accepts 16,384 bytes of field lines, and rejects 16,385', () => {
    // "Host: a\r\n" is 9 bytes, and "X: \r\n" 5.
    const fields = (bytes: number): Field[] => [host, ['X', 'a'.repeat(bytes - 14)]]
    assert.equal(rejectionOf('1.1', fields(16_384)), undefined)
    const rejection = [431, 'The header section is larger than 16384 bytes']
    assert.deepEqual(rejectionOf('1.1', fields(16_385)), rejection)
  })

  it('detects an upgrade to another protocol', () => {
    const upgrades = (...fields: Field[]): boolean =>
      readFraming({ httpVersion: '1.1', rawHeaders: fields.flat() }, DEFAULT_HEADER_LIMITS).upgrades
    assert.equal(upgrades(host), false)
    assert.equal(upgrades(host, ['UPGRADE', 'h2c']), true)
    assert.equal(upgrades(host, ['Upgraded', 'h2c'], ['Warning', 'a']), false)
  })
})

function rejectionOf(
  httpVersion: string,
  fields: readonly Field[],
  url = '/',
): Rejection | undefined {
  const message = { httpVersion, rawHeaders: fields.flat(), url }
  const { rejection } = readFraming(message, DEFAULT_HEADER_LIMITS)
  return rejection && [rejection.status, rejection.message]
}
