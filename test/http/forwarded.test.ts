import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import { type Client, clientOf, isNetwork, networks, proxyIdsOf } from '../../lib/http/forwarded.ts'
import { FrontController, HttpRequest } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'

const proxies = networks(['10.0.0.0/8', '192.0.2.7', '::1', '2001:db8::/32'])

describe('isNetwork()', () => {
  it('accepts addresses and networks only', () => {
    const good = ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '10.0.0.1/32', '::1', 'fd00::/8', '::/128']
    for (const text of good) assert.equal(isNetwork(text), true, text)
    // biome-ignore format: a table
    const bad = ['', 'localhost', '10', '10.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/8.0', '10.0.0.0/ 8', ' 10.0.0.1', '::1/129', '[::1]', '*', '/8', '256.0.0.1']
    for (const text of bad) assert.equal(isNetwork(text), false, text)
  })
})

describe('networks()', () => {
  it('rejects any other text, and quotes it', () => {
    assert.throws(() => networks(['10.0.0.1', 'proxy']), {
      name: 'TypeError',
      message: 'Expected an address or a network, got "proxy"',
    })
    assert.throws(() => new FrontController({ trustProxy: ['10.0.0.0/99'] }), TypeError)
  })
})

describe('clientOf()', () => {
  const direct = { protocol: 'http', host: 'h' } as const
  const many = (name: string, value: string, more = {}): Record<string, string> => ({
    [name]: value,
    ...more,
  })
  const xff = 'x-forwarded-for'
  // biome-ignore format: a table
  const table: [what: string, peer: string, headers: Record<string, string>, client: Partial<Client>][] = [
    ['the peer if there is no header', '10.0.0.1', {}, { address: '10.0.0.1' }],
    ['the peer if it is not trusted', '9.9.9.9', many(xff, '1.2.3.4'), { address: '9.9.9.9' }],
    ['the peer if it is not trusted (RFC 7239)', '9.9.9.9', many('forwarded', 'for=1.2.3.4;proto=https;host=x'), { address: '9.9.9.9' }],
    ['empty without a peer', '', many(xff, '1.2.3.4'), { address: '' }],
    ['the address that a trusted peer reports', '10.0.0.1', many(xff, '1.2.3.4'), { address: '1.2.3.4' }],
    ['an IPv4 peer on an IPv6 socket', '::ffff:10.0.0.1', many(xff, '1.2.3.4'), { address: '1.2.3.4' }],
    ['the last address before the trusted ones', '10.0.0.1', many(xff, '6.6.6.6, 1.2.3.4 ,192.0.2.7, 10.9.9.9'), { address: '1.2.3.4' }],
    ['the first address if all are trusted', '10.0.0.1', many(xff, '10.0.0.3, 10.0.0.2'), { address: '10.0.0.3' }],
    ['the last valid address after an invalid one', '10.0.0.1', many(xff, 'unknown, 10.0.0.2'), { address: '10.0.0.2' }],
    ['the peer if the last address is invalid', '10.0.0.1', many(xff, '1.2.3.4, <script>'), { address: '10.0.0.1' }],
    ['the peer if the header is empty', '10.0.0.1', many(xff, ''), { address: '10.0.0.1' }],
    ['an address without its port', '10.0.0.1', many(xff, '1.2.3.4:5678'), { address: '1.2.3.4' }],
    ['an IPv6 address without brackets and port', '::1', many(xff, '[2001:4860::1]:5678'), { address: '2001:4860::1' }],
    ['an IPv4 address in brackets', '10.0.0.1', many(xff, '[::ffff:1.2.3.4]:5678'), { address: '1.2.3.4' }],
    ['the reported protocol and host too', '10.0.0.1', many(xff, '1.2.3.4', { 'x-forwarded-proto': 'HTTPS', 'x-forwarded-host': 'app.example:8443' }), { address: '1.2.3.4', protocol: 'https', host: 'app.example:8443' }],
    ['the last of several protocols and hosts', '10.0.0.1', many(xff, '1.2.3.4', { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'evil, app.example' }), { address: '1.2.3.4', protocol: 'http', host: 'app.example' }],
    ['without a protocol other than http and https', '10.0.0.1', many(xff, '1.2.3.4', { 'x-forwarded-proto': 'gopher' }), { address: '1.2.3.4' }],
    ['the peer if both headers are present', '10.0.0.1', many(xff, '1.2.3.4', { forwarded: 'for=1.2.3.4' }), { address: '10.0.0.1' }],
    ['the address of RFC 7239', '10.0.0.1', many('forwarded', 'For=1.2.3.4;Proto=https;Host="app.example"'), { address: '1.2.3.4', protocol: 'https', host: 'app.example' }],
    ['the address of RFC 7239, IPv6', '10.0.0.1', many('forwarded', 'for="[2001:4860::1]:47011"'), { address: '2001:4860::1' }],
    ['the address of RFC 7239, several hops', '10.0.0.1', many('forwarded', 'for=6.6.6.6;host=evil, for=1.2.3.4;host=app.example , for=10.0.0.2'), { address: '1.2.3.4', host: 'app.example' }],
    ['the address of RFC 7239, an obfuscated name', '10.0.0.1', many('forwarded', 'for=_hidden, for=10.0.0.2'), { address: '10.0.0.2' }],
    ['the address of RFC 7239, a comma in a quoted host', '10.0.0.1', many('forwarded', 'for=1.2.3.4;host="a,for=6.6.6.6";proto=http'), { address: '1.2.3.4' }],
    ['the address of RFC 7239, a semicolon in a quoted host', '10.0.0.1', many('forwarded', 'for=1.2.3.4 ; by="\\"x;for=6.6.6.6" ;host="a;proto=https"'), { address: '1.2.3.4', host: 'a;proto=https' }],
    ['the requested host in place of one with an invalid character', '10.0.0.1', many(xff, '1.2.3.4', { 'x-forwarded-host': 'a"><b' }), { address: '1.2.3.4' }],
    ['the requested host in place of a URL', '10.0.0.1', many(xff, '1.2.3.4', { 'x-forwarded-host': 'user@evil/path' }), { address: '1.2.3.4' }],
    ['the host of the hop to the right in place of an invalid one', '10.0.0.1', many('forwarded', 'for=1.2.3.4;host="a b", for=10.0.0.2;host="[::1]:8443"'), { address: '1.2.3.4', host: '[::1]:8443' }],
    ['the peer if RFC 7239 is malformed', '10.0.0.1', many('forwarded', 'for=1.2.3.4;host="a, for=6.6.6.6'), { address: '10.0.0.1' }],
    ['the hundredth address from the end if all are trusted', '10.0.0.1', many(xff, `10.0.0.4, 10.0.0.3${', 10.0.0.2'.repeat(99)}`), { address: '10.0.0.3' }],
    ['the first value of a name that a hop has twice', '10.0.0.1', many('forwarded', 'for=1.2.3.4;For=6.6.6.6;__proto__=a;constructor=b'), { address: '1.2.3.4' }],
    ['the peer if RFC 7239 has no for', '10.0.0.1', many('forwarded', 'proto=https;host=evil'), { address: '10.0.0.1' }],
  ]
  for (const [what, peer, headers, client] of table) {
    it(`is ${what}`, () => {
      assert.deepEqual(clientOf(peer, { host: 'h', ...headers }, proxies), { ...direct, ...client })
    })
  }

  it('joins several fields of one header, in their order', () => {
    const headers = { [xff]: ['6.6.6.6', '1.2.3.4'] }
    assert.equal(clientOf('10.0.0.1', headers, proxies).address, '1.2.3.4')
  })
})

describe('proxyIdsOf()', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const parent = '00f067aa0ba902b7'
  const idsOf = (headers: Record<string, string>, peer = '10.0.0.1'): object =>
    proxyIdsOf(peer, (name) => headers[name], proxies)

  it('reads both headers of a trusted proxy, and none of any other peer', () => {
    const headers = { 'x-request-id': 'a-1', traceparent: `00-${trace}-${parent}-01` }
    assert.deepEqual(idsOf(headers), { requestId: 'a-1', traceId: trace })
    assert.deepEqual(idsOf(headers, '::ffff:10.0.0.1'), { requestId: 'a-1', traceId: trace })
    for (const peer of ['9.9.9.9', '::2', '', 'unknown']) assert.deepEqual(idsOf(headers, peer), {})
    assert.deepEqual(idsOf({}), {})
    assert.deepEqual(
      proxyIdsOf('10.0.0.1', (name) => headers[name as keyof typeof headers], networks([])),
      {},
    )
  })

  it('accepts request ids of 1 to 128 letters, digits and `._:/+=-`', () => {
    // biome-ignore format: a table
    const good = ['a', '0', 'f'.repeat(128), '6ea5a337-2ec6-42df-bfb2-115b2c6b991d', 'Root=1-67891233-abcdef012345678912345678', 'q+B/=', '2026-11-20T16:08:00.300Z', 'a_b.c']
    for (const id of good) assert.deepEqual(idsOf({ 'x-request-id': id }), { requestId: id }, id)
    // biome-ignore format: a table
    const bad = ['', ' ', 'f'.repeat(129), 'a b', 'a, b', 'a,b', 'a@b.example', '"a"', "'", '<a>', 'a;b', 'a\n', '\n', 'a\0', 'é', '{a}', 'a\\', 'a%20', '\u2028', '[31m', '\u001b']
    for (const id of bad) assert.deepEqual(idsOf({ 'x-request-id': id }), {}, JSON.stringify(id))
  })

  it('accepts the traceparent of W3C Trace Context', () => {
    const rest = `${trace}-${parent}`
    // biome-ignore format: a table
    const good = [`00-${rest}-00`, `00-${rest}-ff`, `01-${rest}-01`, `cc-${rest}-01-more`, `fe-${rest}-01-`]
    for (const text of good)
      assert.deepEqual(idsOf({ traceparent: text }), { traceId: trace }, text)
    // biome-ignore format: a table
    const bad = ['', trace, rest, `00-${rest}`, `00-${rest}-1`, `00-${rest}-01-`, `00-${rest}-01-more`, `ff-${rest}-01`, `cc-${rest}-01more`, `0-${rest}-01`, `00-${rest}-01 `, ` 00-${rest}-01`, `00-${rest.toUpperCase()}-01`, `00-${'0'.repeat(32)}-${parent}-01`, `00-${trace}-${'0'.repeat(16)}-01`, `00-${trace}0-${parent}-01`, `00-${rest}-01, 00-${rest}-01`, `00-${trace.replace('4', 'g')}-${parent}-01`]
    for (const text of bad) assert.deepEqual(idsOf({ traceparent: text }), {}, text)
  })

  it('leaves out the one that is wrong', () => {
    assert.deepEqual(idsOf({ 'x-request-id': 'a', traceparent: 'b' }), { requestId: 'a' })
    const traceparent = `00-${trace}-${parent}-01`
    assert.deepEqual(idsOf({ 'x-request-id': 'a b', traceparent }), { traceId: trace })
  })
})

describe('HttpRequest.client', () => {
  it('trusts no header by default, and the headers of proxies in `trustProxy`', async () => {
    const clientFor = async (trustProxy?: readonly string[]): Promise<Client | undefined> => {
      let client: Client | undefined
      const ask = (request: HttpRequest): void => {
        client = request.client
      }
      const front = createFront({ who: { ask } }, { trustProxy })
      const headers = { Host: 'inner', 'X-Forwarded-For': '1.2.3.4', 'X-Forwarded-Proto': 'https' }
      await front.handle(
        new HttpRequest({ target: '/who/ask', remoteAddress: '10.0.0.1', headers }),
      )
      return client
    }
    assert.deepEqual(await clientFor(), { address: '10.0.0.1', protocol: 'http', host: 'inner' })
    const forwarded = { address: '1.2.3.4', protocol: 'https', host: 'inner' }
    assert.deepEqual(await clientFor(['10.0.0.0/8']), forwarded)
  })

  it('is read once for all that need it', async (t) => {
    const check = t.mock.method(BlockList.prototype, 'check')
    const links = (request: HttpRequest): void => {
      for (let i = 0; i < 20; i++) request.urlFor({ page: i })
      assert.equal(request.client.address, '1.2.3.4')
    }
    const article = { scheme: 'http', path: '/article/:id' } as const
    const options = { trustProxy: ['10.0.0.0/8'], routes: { article } }
    const headers = { Host: 'inner', 'X-Forwarded-For': '1.2.3.4, 10.0.0.2, 10.0.0.3' }
    const init = { target: '/who/links', remoteAddress: '10.0.0.1', headers }
    const response = await createFront({ who: { links } }, options).handle(new HttpRequest(init))
    assert.equal(response.status, 200)
    assert.equal(check.mock.callCount(), 4)
  })
})
