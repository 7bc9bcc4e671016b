import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { ResponseCookies } from '../../lib/http/cookies.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { HttpResponse } from '../../lib/http/response.ts'
import { createSession, type SessionOptions } from '../../lib/session.ts'
import { collectReports } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'

const SECRET = 'a secret of thirty-two characters, or more'
const OPTIONS = { origin: 'https://news.example', secrets: [SECRET] }

describe('createSession', () => {
  it('reads in the next request what a response wrote', async () => {
    const session = createSession<{ cart: string[] }>(OPTIONS)
    const cookie = await cookieOf((response) => session.write(response, { cart: ['é', '42'] }))
    assert.deepEqual(await session.read(requestWith(cookie)), { cart: ['é', '42'] })
    assert.equal(await session.read(requestWith()), undefined)
    assert.equal(await session.read(requestWith('__Host-other=1')), undefined)
  })

  it('sets a cookie that scripts, other hosts and other sites do not have', async () => {
    const response = new HttpResponse()
    await createSession({ ...OPTIONS, ttlMs: 1_500 }).write(response, 'data')
    assert.match(
      String(response.headers.get('Set-Cookie')),
      /^__Host-session=[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+; Max-Age=2; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    )
  })

  it('sets a cookie without "Secure" and prefix for plain HTTP on this machine', async () => {
    for (const origin of ['http://localhost:8080', 'http://127.0.0.1:1', 'http://[::1]:3000']) {
      const session = createSession({ ...OPTIONS, origin, name: 'cart' })
      const response = new HttpResponse()
      await session.write(response, 'data')
      const line = String(response.headers.get('Set-Cookie'))
      assert.match(line, /^cart=/)
      assert.doesNotMatch(line, /Secure/)
    }
  })

  it('removes the cookie with the attributes that it was set with', () => {
    const response = new HttpResponse()
    createSession(OPTIONS).clear(response)
    assert.equal(
      response.headers.get('Set-Cookie'),
      '__Host-session=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax',
    )
  })

  it('seals each value anew', async () => {
    const session = createSession(OPTIONS)
    const write = (response: HttpResponse): Promise<void> => session.write(response, 'data')
    assert.notEqual(await cookieOf(write), await cookieOf(write))
  })

  it('opens with each secret, and seals with the first', async () => {
    const [old, current] = [randomBytes(32), 'another secret of thirty-two characters']
    const [before, during, after] = [[old], [current, old], [current]].map((secrets) =>
      createSession({ ...OPTIONS, secrets }),
    )
    const cookies = await Promise.all(
      [before, during].map((session) =>
        cookieOf(async (response) => session?.write(response, 'data')),
      ),
    )
    const readBy = (session = before): Promise<unknown[]> =>
      Promise.all(cookies.map((cookie) => session?.read(requestWith(cookie))))
    assert.deepEqual(await readBy(before), ['data', undefined])
    assert.deepEqual(await readBy(during), ['data', 'data'])
    assert.deepEqual(await readBy(after), [undefined, 'data'])
  })

  it('ends to the millisecond', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_123 })
    const session = createSession({ ...OPTIONS, ttlMs: 1_500 })
    const cookie = await cookieOf((response) => session.write(response, 'data'))
    t.mock.timers.tick(1_499)
    assert.equal(await session.read(requestWith(cookie)), 'data')
    t.mock.timers.tick(1)
    assert.equal(await session.read(requestWith(cookie)), undefined)
  })

  it('reads no changed, truncated or foreign cookie', async () => {
    const session = createSession(OPTIONS)
    const cookie = await cookieOf((response) => session.write(response, { admin: false }))
    const value = cookie.slice(cookie.indexOf('=') + 1)
    const broken = Array.from(value, (character, i) => {
      const other = character === 'A' ? 'Q' : 'A'
      return value.slice(0, i) + other + value.slice(i + 1)
    })
    const plain = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"data":1,"exp":9e9}').toString('base64url')}.`
    const texts = [...broken, value.slice(0, -1), value.slice(1), '', '....', 'a.b.c.d.e', plain]
    for (const text of texts.filter((each) => each !== value)) {
      const read = await session.read(requestWith(`__Host-session=${text}`))
      // The last character of a part in base64url may have bits that mean nothing.
      if (read !== undefined) assert.deepEqual(read, { admin: false })
      else assert.equal(read, undefined)
    }
    for (const other of [
      { ...OPTIONS, origin: 'https://other.example' },
      { ...OPTIONS, secrets: ['a foreign secret of thirty-two characters'] },
    ]) {
      assert.equal(await createSession(other).read(requestWith(cookie)), undefined)
    }
  })

  it('keeps the cookies of two names apart', async () => {
    const [a, b] = ['a', 'b'].map((name) => createSession({ ...OPTIONS, name }))
    const cookie = await cookieOf(async (response) => a?.write(response, 'data'))
    assert.equal(await b?.read(requestWith(cookie.replace('-a=', '-b='))), undefined)
  })

  it('unseals once for all requests of a message', async () => {
    const session = createSession<{ count: number }>(OPTIONS)
    const cookie = await cookieOf((response) => session.write(response, { count: 1 }))
    const seen: unknown[] = []
    const front = createFront({
      news: {
        async first(request: HttpRequest) {
          seen.push(await session.read(request))
          return request.forward({ action: 'second' })
        },
        async second(request: HttpRequest) {
          seen.push(await session.read(request))
        },
      },
    })
    await front.handle(new HttpRequest({ target: '/news/first', headers: { cookie } }))
    assert.deepEqual(seen[0], { count: 1 })
    assert.equal(seen[0], seen[1])
  })

  it('keeps what it holds, and the flash messages, out of the reports', async () => {
    const session = createSession<{ key: string }>(OPTIONS)
    const cookies = [
      await cookieOf((response) => session.write(response, { key: 'canary-one' })),
      await cookieOf((response) => session.flash.write(response, 'canary-two')),
    ]
    const { reports, onReport } = collectReports()
    const fail = async (request: HttpRequest): Promise<void> => {
      const data = await session.read(request)
      const key = data?.key
      // The application may change what it has read.
      if (data !== undefined) data.key = 'another'
      throw new Error(`No service for ${key} and ${await session.flash.read(request)}`)
    }
    const front = createFront({ news: { fail } }, { onReport })
    const headers = { cookie: cookies.join('; ') }
    await front.handle(new HttpRequest({ target: '/news/fail', headers }))
    assert.equal(reports.length, 1)
    assert.match(String(reports[0]?.message), /^No service for /)
    assert.doesNotMatch(inspect(reports, { depth: 9 }), /canary/)
  })

  it('rejects a value that makes the cookie longer than 4,096 bytes', async (t) => {
    // The time of the end is a part of the cookie.
    t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_123 })
    const session = createSession(OPTIONS)
    const write = (length: number): Promise<string> =>
      cookieOf((response) => session.write(response, 'x'.repeat(length)))
    let length = 2_900
    const fits = (): Promise<boolean> =>
      write(length + 1).then(
        () => true,
        () => false,
      )
    while (await fits()) length++
    assert.ok((await write(length)).length > 4_090)
    await assert.rejects(write(length + 1), {
      name: 'RangeError',
      message: /^The cookie "__Host-session" would have 4\d{3} bytes; a browser keeps 4096/,
    })
  })

  it('allows 4,096 bytes of the name and the value, and not one more', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_123 })
    const sizes: number[] = []
    // The length of a sealed value grows in steps of one and two bytes: other names fill the gap.
    for (const name of ['a', 'ab', 'abc']) {
      const session = createSession({ ...OPTIONS, name })
      for (let length = 2_900; length < 3_000; length++) {
        const write = cookieOf((response) => session.write(response, 'x'.repeat(length)))
        const cookie = await write.catch(() => '')
        sizes.push(cookie.length - '='.length)
      }
    }
    assert.equal(Math.max(...sizes), 4_096)
  })

  it('keeps the JSON form of a value', async () => {
    class Money {
      readonly #cents = 4_200
      toJSON(): string {
        return `${this.#cents / 100} EUR`
      }
    }
    const session = createSession(OPTIONS)
    const values = [
      new Money(),
      { price: new Money(), at: new Date(0), print() {}, symbol: Symbol('x'), nothing: undefined },
      new Proxy({ list: [1, undefined, Number.NaN] }, {}),
      Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }),
    ]
    for (const value of values) {
      const cookie = await cookieOf((response) => session.write(response, value))
      const read = await session.read(requestWith(cookie))
      assert.deepEqual(read, JSON.parse(JSON.stringify(value)))
    }
  })

  it('rejects a value that is nested too deep, and says so', async () => {
    const session = createSession(OPTIONS)
    const nested = (levels: number): unknown => {
      let value: unknown = []
      for (let level = 0; level < levels; level++) value = [value]
      return value
    }
    const write = (levels: number) => session.write(new HttpResponse(), nested(levels))
    await write(1_000)
    const isTooLong = { name: 'RangeError', message: /^The cookie "__Host-session" would have / }
    for (const levels of [2_000, 3_000]) await assert.rejects(write(levels), isTooLong)
    // Before Node 26, it has no JSON form.
    const isRejected = /^(?:TypeError: Expected a value with a JSON form|RangeError: The cookie) /
    await assert.rejects(write(100_000), isRejected)
  })

  it('rejects a value without a JSON form', async () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    const message = /^Expected a value with a JSON form for the cookie "__Host-session"$/
    const session = createSession(OPTIONS)
    for (const value of [undefined, () => {}, 1n, circle]) {
      const written = session.write(new HttpResponse(), value)
      await assert.rejects(written, { name: 'TypeError', message })
    }
  })

  const invalid: [options: object, name: RegExp][] = [
    [{ origin: undefined }, /"origin"/],
    [{ origin: 'https://news.example/' }, /"origin"/],
    [{ origin: 'https://news.example/path' }, /"origin"/],
    [{ origin: 'news.example' }, /"origin"/],
    [{ origin: 'http://news.example' }, /"origin"/],
    [{ origin: 'http://127.0.0.2' }, /"origin"/],
    [{ origin: 'ftp://localhost' }, /"origin"/],
    [{ secrets: undefined }, /"secrets"/],
    [{ secrets: [] }, /"secrets"/],
    [{ secrets: SECRET }, /"secrets"/],
    [{ secrets: [SECRET, undefined] }, /"secrets\[1\]"/],
    [{ secrets: ['x'.repeat(31)] }, /"secrets\[0\]"/],
    [{ secrets: [new Uint8Array(31)] }, /"secrets\[0\]"/],
    [{ ttlMs: 0 }, /"ttlMs"/],
    [{ ttlMs: 1.5 }, /"ttlMs"/],
    [{ ttlMs: '1' }, /"ttlMs"/],
    [{ ttlMs: 401 * 86_400_000 }, /"ttlMs"/],
    [{ name: '' }, /"name"/],
    [{ name: '__Host-x' }, /"name"/],
    [{ name: '__secure-x' }, /"name"/],
    [{ name: 'a.b' }, /"name"/],
    [{ name: 'a b' }, /"name"/],
    [{ ttl: 1 }, /"ttl"/],
  ]
  for (const [options, message] of invalid) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      const create = (): unknown => createSession({ ...OPTIONS, ...options } as SessionOptions)
      assert.throws(create, (error: Error) => {
        assert.ok(error instanceof TypeError)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /xxxx|a secret/)
        return true
      })
    })
  }
})

describe('The flash messages of a session', () => {
  it('are there until they are taken', async () => {
    const { flash } = createSession(OPTIONS)
    const cookie = await cookieOf((response) => flash.write(response, 'Saved', 'Sent'))
    assert.deepEqual(await flash.read(requestWith(cookie)), ['Saved', 'Sent'])
    const response = new HttpResponse()
    assert.deepEqual(await flash.take(requestWith(cookie), response), ['Saved', 'Sent'])
    assert.match(String(response.headers.get('Set-Cookie')), /^__Host-session\.flash=; .*Max-Age=0/)
  })

  it('set no cookie if there are none', async () => {
    const { flash } = createSession(OPTIONS)
    const response = new HttpResponse()
    assert.deepEqual(await flash.take(requestWith(), response), [])
    assert.equal(response.headers.get('Set-Cookie'), undefined)
  })

  it('collect those that one response writes', async () => {
    const { flash } = createSession(OPTIONS)
    const earlier = await cookieOf((response) => flash.write(response, 'Saved'))
    const cookie = await cookieOf(async (response) => {
      await flash.write(response, 'One')
      await flash.write(response, 'Two')
      assert.deepEqual(await flash.take(requestWith(earlier), response), ['Saved'])
    })
    assert.deepEqual(await flash.read(requestWith(cookie)), ['One', 'Two'])
  })

  it('have all messages of writes at once, without those that are too long', async () => {
    const { flash } = createSession(OPTIONS)
    const earlier = await cookieOf((response) => flash.write(response, 'Saved'))
    const cookie = await cookieOf(async (response) => {
      const tooLong = 'x'.repeat(5_000)
      const writes = ['One', tooLong, 'Two'].map((each) => flash.write(response, each))
      const results = await Promise.allSettled([...writes, flash.write(response, 'Three')])
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
      )
    })
    assert.deepEqual(await flash.read(requestWith(cookie)), ['One', 'Two', 'Three'])

    const response = new HttpResponse()
    await assert.rejects(flash.write(response, 'x'.repeat(5_000)), RangeError)
    assert.deepEqual(await flash.take(requestWith(earlier), response), ['Saved'])
    assert.match(String(response.headers.get('Set-Cookie')), /Max-Age=0/)
  })

  it('are no session, nor the reverse', async () => {
    const session = createSession<unknown, unknown>(OPTIONS)
    const data = await cookieOf((response) => session.write(response, ['x']))
    const flash = await cookieOf((response) => session.flash.write(response, 'x'))
    const asData = flash.replace('session.flash', 'session')
    const asFlash = data.replace('session=', 'session.flash=')
    assert.equal(await session.read(requestWith(asData)), undefined)
    assert.deepEqual(await session.flash.read(requestWith(asFlash)), [])
  })
})

function requestWith(cookie?: string): HttpRequest {
  return new HttpRequest({ target: '/', ...(cookie && { headers: { cookie } }) })
}

/** Returns name and value of the only cookie that a response sets. */
async function cookieOf(write: (response: HttpResponse) => Promise<unknown>): Promise<string> {
  const response = new HttpResponse()
  await write(response)
  assert.ok(response.cookies instanceof ResponseCookies)
  const line = response.headers.get('Set-Cookie') ?? ''
  return line.split(';', 1)[0] ?? ''
}
