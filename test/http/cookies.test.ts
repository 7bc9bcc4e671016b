import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type CookieAttributes, parseCookies, ResponseCookies } from '../../lib/http/cookies.ts'
import { ResponseHeaders } from '../../lib/http/response-headers.ts'
import { timeRatio } from '../support/time-ratio.ts'

describe('parseCookies', () => {
  const cases: [header: string | undefined, expected: Record<string, string>][] = [
    [undefined, {}],
    ['', {}],
    // The examples of RFC 6265bis, section 3.1.
    ['SID=31d4d96e407aad42', { SID: '31d4d96e407aad42' }],
    ['SID=31d4d96e407aad42; lang=en-US', { SID: '31d4d96e407aad42', lang: 'en-US' }],
    ['lang=en-US; SID=31d4d96e407aad42', { lang: 'en-US', SID: '31d4d96e407aad42' }],
    ['a=1;b=2 ;  c = 3', { a: '1', b: '2', c: '3' }],
    ['a="quoted value"', { a: 'quoted value' }],
    ['a="; b="1', { a: '"', b: '"1' }],
    ['a=1; a=2', { a: '1' }],
    ['a==; b=c=d', { a: '=', b: 'c=d' }],
    ['a=%C3%A9%20%3B; b=%; c=%zz; d=100%25', { a: 'é ;', b: '%', c: '%zz', d: '100%' }],
    ['a=1+2', { a: '1+2' }],
    ['novalue; =noname; bad name=1; b@d=1; good=1', { good: '1' }],
    ['__proto__=1; constructor=2', JSON.parse('{"__proto__":"1","constructor":"2"}')],
    ['$Version=1; a=1', { $Version: '1', a: '1' }],
    ['a=', { a: '' }],
    [';;; ;=;', {}],
    [' a\t=1;\tb =2', { a: '1', b: '2' }],
    // node:http reads the byte A0 as U+00A0. For a browser this name has no prefix, so another host of the domain may set it.
    [
      '\u00a0__Host-s=1; __Host-s\u00a0=2; \ufeff__Host-s=3; \u2003__Host-s=4; __Host-s=5',
      { '__Host-s': '5' },
    ],
  ]
  for (const [header, expected] of cases) {
    it(`reads ${JSON.stringify(header)}`, () => {
      assert.deepEqual([...parseCookies(header)], Object.entries(expected))
    })
  }

  it('decodes as decodeURIComponent() does, without an exception for each value', (t) => {
    const escapes = [
      '%',
      '%zz',
      '%f',
      '%ff',
      '%C3%28',
      '%ED%A0%80',
      '%C3é',
      '%EF%BF%BD',
      '%EF%BF%BD%ff',
    ]
    const values = [
      ...escapes,
      '%C3%A9',
      '\ufffd',
      '%41\ufffd',
      'é%C3%A9',
      '%C0%80',
      '%F0%9F%98%80',
    ]
    const expected = values.map((value) => [value, decodedOrSame(value)])
    const decode = t.mock.method(globalThis, 'decodeURIComponent')
    const read = values.map((value) => [value, parseCookies(`a=${value}`).get('a')])
    assert.deepEqual(read, expected)
    assert.deepEqual(
      decode.mock.calls.filter(({ error }) => error !== undefined),
      [],
    )
  })

  it('returns a Map that cannot be changed', () => {
    const cookies = parseCookies('a=1') as Map<string, string>
    const expected = { name: 'TypeError', message: /read-only/ }
    assert.throws(() => cookies.set('b', '2'), expected)
    assert.throws(() => cookies.delete('a'), expected)
    assert.throws(() => cookies.clear(), expected)
    assert.deepEqual(cookies, new Map([['a', '1']]))
  })

  it('reads any header without an error', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (header) => {
        for (const value of parseCookies(header).values()) assert.equal(typeof value, 'string')
      }),
      { numRuns: 2_000 },
    )
  })
})

function decodedOrSame(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

describe('ResponseCookies', () => {
  function line(name: string, value: string, attributes?: CookieAttributes): string | undefined {
    const headers = new ResponseHeaders()
    new ResponseCookies(headers).set(name, value, attributes)
    return headers.get('Set-Cookie')
  }

  it('sets Path, HttpOnly and SameSite by default', () => {
    assert.equal(
      line('SID', '31d4d96e407aad42'),
      'SID=31d4d96e407aad42; Path=/; HttpOnly; SameSite=Lax',
    )
  })

  it('sets every attribute', () => {
    const attributes: CookieAttributes = {
      path: '/admin',
      domain: 'site.example',
      maxAgeSeconds: 60,
      expires: new Date('2021-06-09T10:18:14Z'),
      httpOnly: false,
      secure: true,
      sameSite: 'none',
      partitioned: true,
    }
    assert.equal(
      line('lang', 'en-US', attributes),
      'lang=en-US; Expires=Wed, 09 Jun 2021 10:18:14 GMT; Max-Age=60; Domain=site.example; Path=/admin; Secure; SameSite=None; Partitioned',
    )
  })

  it('sets several cookies of one name for different paths and domains, and replaces the others', () => {
    const headers = new ResponseHeaders()
    new ResponseCookies(headers)
      .set('a', '1')
      .set('a', '2', { path: '/x' })
      .set('a', '3', { domain: 'Site.example' })
      .set('b', '4')
      .set('a', '5')
      .set('a', '6', { domain: 'site.example', secure: true })
    const [[, lines] = []] = headers
    assert.deepEqual(
      [lines].flat().map((each) => each?.replace('; HttpOnly; SameSite=Lax', '')),
      ['a=5; Path=/', 'a=2; Path=/x', 'a=6; Domain=site.example; Path=/; Secure', 'b=4; Path=/'],
    )
  })

  it('does not escape a value that is too long in any case', (t) => {
    const { mock } = t.mock.method(globalThis, 'encodeURIComponent')
    assert.throws(() => line('a', '"'.repeat(4_097)), /^TypeError: .* at most 4096 bytes$/)
    assert.equal(mock.callCount(), 0)
    assert.throws(() => line('a', '"'.repeat(1_366)), /^TypeError: .* at most 4096 bytes$/)
    assert.equal(line('a', '"'.repeat(1_365))?.slice(0, 8), 'a=%22%22')
  })

  it('keeps a line that the action has set itself', () => {
    const headers = new ResponseHeaders().set('set-cookie', 'own=1; path=/')
    new ResponseCookies(headers).set('a', '1')
    assert.equal(headers.get('Set-Cookie'), 'own=1; path=/, a=1; Path=/; HttpOnly; SameSite=Lax')
  })

  it('knows the lines that other code sets and removes after it', () => {
    const headers = new ResponseHeaders()
    const cookies = new ResponseCookies(headers).set('a', '1')
    headers.append('Set-Cookie', 'own=1; Path=/')
    assert.match(String(cookies.set('own', '2') && headers.get('set-cookie')), /^a=1;.*, own=2;/)
    headers.delete('Set-Cookie')
    assert.match(String(cookies.set('b', '1') && headers.get('set-cookie')), /^b=1; [^,]*$/)
    headers.set('Set-Cookie', ['own=3', 'own=4; Partitioned'])
    cookies.set('b', '2').set('b', '3')
    assert.match(String(headers.get('set-cookie')), /^own=3, own=4; Partitioned, b=3; [^,]*$/)
    headers.set('Set-Cookie', ['own=5; Path=/', 'own=6; Path=/; Partitioned'])
    assert.match(String(cookies.set('own', '7') && headers.get('set-cookie')), /^own=7; [^,]*$/)
  })

  it('reads each line once, also if a response removes every cookie of a request', (t) => {
    const headers = new ResponseHeaders()
    const cookies = new ResponseCookies(headers)
    const { mock } = t.mock.method(String.prototype, 'split')
    for (let i = 0; i < 200; i++) cookies.delete(`c${i}`)
    const calls = mock.callCount()
    assert.ok(calls < 1_000, `${calls} calls`)
    assert.equal([...headers][0]?.[1].length, 200)
  })

  it('reads each line once, also if other code appends lines in turn', (t) => {
    const headers = new ResponseHeaders()
    const cookies = new ResponseCookies(headers)
    const { mock } = t.mock.method(String.prototype, 'split')
    for (let i = 0; i < 200; i++) {
      headers.append('Set-Cookie', `own${i}=1; Path=/`)
      cookies.delete(`c${i}`)
    }
    const calls = mock.callCount()
    assert.ok(calls < 2_000, `${calls} calls`)
    cookies.set('own0', '2').set('c1', '2')
    const names = [...headers][0]?.[1]
    assert.ok(Array.isArray(names))
    assert.equal(names.length, 400)
    assert.deepEqual(
      names.slice(0, 4).map((line) => line.slice(0, 6)),
      ['own0=2', 'c0=; E', 'own1=1', 'c1=2; '],
    )
  })

  it('replaces a cookie in the time that it takes to set it, also if other code has set it twice', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `c${i}`)
    const setAll = (appends: number, sets: number): string[] => {
      const headers = new ResponseHeaders()
      for (let i = 0; i < appends; i++) {
        for (const name of names) headers.append('Set-Cookie', `${name}=1; Path=/`)
      }
      const cookies = new ResponseCookies(headers)
      for (let i = 0; i < sets; i++) for (const name of names) cookies.set(name, '2')
      return [...headers].flatMap(([, lines]) => lines)
    }
    for (const appends of [0, 2]) {
      const lines = setAll(appends, 2)
      assert.deepEqual(
        lines.map((line) => line.slice(0, line.indexOf(';'))).sort(),
        names.map((name) => `${name}=2`).sort(),
      )
      const ratio = timeRatio(
        () => setAll(appends, 2),
        () => setAll(0, 1),
      )
      assert.ok(ratio < 15, `${ratio}`)
    }
  })

  it('removes the lines of a cookie that other code has set often in linear time, whatever stands behind them', () => {
    const set = (...names: string[]): void => {
      const headers = new ResponseHeaders()
      for (const name of names) headers.append('Set-Cookie', `${name}=1; Path=/`)
      new ResponseCookies(headers).set('a', '')
    }
    const often = (name: string): string[] => new Array(4_000).fill(name)
    const ratio = timeRatio(
      () => set(...often('a'), ...often('b')),
      () => set(...often('a').map((name, i) => name + i), ...often('b').map((name, i) => name + i)),
    )
    assert.ok(ratio < 4, `${ratio}`)
  })

  it('keeps the order of the lines of each other cookie that other code has set often', () => {
    for (let seed = 1; seed <= 500; seed++) {
      let state = seed
      const random = (below: number): number => {
        state = (state * 48_271) % 2_147_483_647
        return state % below
      }
      const headers = new ResponseHeaders()
      const pairs = Array.from({ length: random(12) }, (_, i) => `${'abcd'[random(4)]}=${i}`)
      for (const pair of pairs) headers.append('Set-Cookie', `${pair}; Path=/`)
      const cookies = new ResponseCookies(headers)
      for (const name of ['a', 'b']) cookies.set(name, 'new')
      const lines = [...headers].flatMap(([, value]) => value)
      for (const name of ['c', 'd']) {
        const ofName = (line: string): boolean => line.startsWith(name)
        assert.deepEqual(
          lines.filter(ofName),
          pairs.filter(ofName).map((pair) => `${pair}; Path=/`),
          `seed ${seed}`,
        )
      }
      assert.equal(lines.filter((line) => /^[ab]/.test(line)).length, 2, `seed ${seed}`)
    }
  })

  it('changes no list that an iteration over the headers has returned', () => {
    const headers = new ResponseHeaders()
    const cookies = new ResponseCookies(headers).set('a', '1')
    const [, before] = [...headers][0] ?? []
    cookies.set('b', '1')
    assert.equal(before?.length, 1)
  })

  it('deletes a cookie', () => {
    const headers = new ResponseHeaders()
    new ResponseCookies(headers).set('a', '1').delete('a')
    assert.equal(
      headers.get('Set-Cookie'),
      'a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    )
  })

  it('deletes a cookie with a prefix', () => {
    for (const name of ['__Host-s', '__Secure-s']) {
      const headers = new ResponseHeaders()
      new ResponseCookies(headers).set(name, '1', { secure: true }).delete(name)
      assert.match(
        String(headers.get('Set-Cookie')),
        /^__\w+-s=; .*Max-Age=0; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
      )
      assert.throws(() => new ResponseCookies(headers).delete(name, { secure: false }), TypeError)
    }
  })

  it('sets a value that parseCookies() reads back, whatever the text is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (value) => {
        const [pair] = line('a', value)?.split('; ') ?? []
        assert.match(pair ?? '', /^a=[!#-+\--:<-[\]-~]*$/)
        assert.deepEqual(
          [...parseCookies(`x=1; ${pair}`)],
          [
            ['x', '1'],
            ['a', value],
          ],
        )
      }),
      { numRuns: 10_000 },
    )
  })

  const invalid: [name: unknown, value: unknown, attributes?: object][] = [
    ['', '1'],
    ['a b', '1'],
    ['a=b', '1'],
    ['a;b', '1'],
    ['é', '1'],
    [undefined, '1'],
    ['a', undefined],
    ['a', 1],
    ['a', '\ud800'],
    ['a', 'x'.repeat(4_096)],
    ['a', '1', { path: 'admin' }],
    ['a', '1', { path: '/; Secure' }],
    ['a', '1', { path: '/\n' }],
    ['a', '1', { path: `/${'x'.repeat(1_024)}` }],
    ['a', '1', { domain: 'a b' }],
    ['a', '1', { domain: 'a;b' }],
    ['a', '1', { domain: '' }],
    ['a', '1', { maxAgeSeconds: 1.5 }],
    ['a', '1', { maxAgeSeconds: '60' }],
    ['a', '1', { maxAgeSeconds: Number.NaN }],
    ['a', '1', { expires: new Date(Number.NaN) }],
    ['a', '1', { expires: '2030-01-01' }],
    ['a', '1', { expires: new Date(Date.UTC(10_000, 0)) }],
    ['a', '1', { sameSite: 'Lax' }],
    ['a', '1', { sameSite: 'toString' }],
    ['a', '1', { sameSite: 'none' }],
    ['a', '1', { partitioned: true }],
    ['a', '1', { secure: 'yes' }],
    ['a', '1', { maxAge: 60 }],
    ['__Secure-a', '1'],
    ['__Host-a', '1'],
    ['__host-a', '1'],
    ['__Host-a', '1', { secure: true, path: '/x' }],
    ['__Host-a', '1', { secure: true, domain: 'site.example' }],
  ]
  for (const [name, value, attributes] of invalid) {
    it(`rejects ${String(name)}=${String(value).slice(0, 20)} ${JSON.stringify(attributes ?? {})}`, () => {
      assert.throws(() => line(name as string, value as string, attributes), TypeError)
    })
  }

  it('accepts the prefixes with what they need', () => {
    assert.match(line('__Host-a', '1', { secure: true }) ?? '', /Path=\/; Secure/)
    assert.match(line('__Secure-a', '1', { secure: true, path: '/x' }) ?? '', /Path=\/x; Secure/)
  })
})
