import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isName, readShape, safeName, shapeOf } from '../../lib/scrubbing/shape.ts'

describe('readShape()', () => {
  it('returns the shape of a value as data', () => {
    assert.deepEqual(readShape('1234'), { kind: 'digits()', length: 4 })
    assert.deepEqual(readShape('a b c'), { kind: 'list()', length: 3 })
    assert.deepEqual(readShape(''), { kind: 'empty', length: 0 })
    assert.deepEqual(readShape('12', 20_000), { kind: 'digits()', length: 20_000 })
    assert.equal(readShape('https://a.example/?b').kind, 'url?')
  })
})

describe('shapeOf()', () => {
  it('says what kind of thing a value is, the first that fits', () => {
    const table: [string, string][] = [
      ['', 'empty'],
      ['0', 'digits(1)'],
      ['0123456789', 'digits(10)'],
      ['٣', 'text(1)'],
      ['ServiceLogin', 'word(12)'],
      ['sign-in_page.html', 'word(17)'],
      ['a'.repeat(32), 'word(32)'],
      ['a'.repeat(33), 'token(33)'],
      ['-a', 'token(2)'],
      ['a--b', 'token(4)'],
      ['v2', 'token(2)'],
      ['S-1234567:abc', 'token(13)'],
      ['https://a.example', 'url'],
      ['https://a.example/b#c', 'url'],
      ['https://a.example/?b=c', 'url?'],
      ['HTTPS://A/?', 'url?'],
      ['com.app+x://cb', 'url'],
      ['//a.example/b', 'token(13)'],
      ['mailto:a@b.example', 'token(18)'],
      ['https://a b', 'list(2)'],
      ['https://ä', 'text(9)'],
      ['openid email https://a.example/auth', 'list(3)'],
      ['a,b', 'list(2)'],
      [',a', 'token(2)'],
      ['a b,', 'text(4)'],
      ['a!,b', 'token(4)'],
      ['https://a,b', 'url'],
      ['a, b , c', 'list(3)'],
      ['1 2', 'list(2)'],
      [' a b', 'text(4)'],
      ['a b ', 'text(4)'],
      ['a\tb', 'text(3)'],
      ['a b!', 'text(4)'],
      ['!"#$', 'token(4)'],
      ['a\n', 'text(2)'],
      ['12\n', 'text(3)'],
      ['\0', 'text(1)'],
      ['é', 'text(1)'],
      ['🎉', 'text(2)'],
      ['\ud800', 'text(1)'],
    ]
    for (const [value, shape] of table) assert.equal(shapeOf(value), shape, JSON.stringify(value))
  })

  it('counts all characters of a long value, and examines its beginning', () => {
    assert.equal(shapeOf('7'.repeat(1_000_000)), 'digits(1000000)')
    assert.equal(shapeOf(`https://a/${'x'.repeat(9_000)}`), 'url')
    assert.equal(shapeOf('x'.repeat(2_000)), 'token(2000)')
    assert.equal(shapeOf(`${'x'.repeat(1_024)}é`), 'token(1025)')
    assert.equal(shapeOf(`${'x'.repeat(1_023)}é`), 'text(1024)')
    assert.equal(shapeOf('ab '.repeat(800).trim()), 'list(800)')
    assert.equal(shapeOf('ab '.repeat(5_461).trim()), 'list(5461)')
    assert.equal(shapeOf('ab '.repeat(5_462).trim()), 'text(16385)')
  })

  it('has the length of the whole value, of which only the beginning is known', () => {
    assert.equal(shapeOf('12', 20_000), 'digits(20000)')
    assert.equal(shapeOf('a b', 20_000), 'text(20000)')
    assert.equal(shapeOf('ab', 20_000), 'token(20000)')
  })

  it('contains nothing of the value', () => {
    for (const value of [
      'SECRET',
      'https://SECRET/?SECRET',
      'SECRET SECRET',
      'SECRET\n',
      '8675309',
    ]) {
      assert.doesNotMatch(shapeOf(value), /SECRET|8675309/)
    }
  })
})

describe('safeName()', () => {
  it('is the name if it looks like one, else its shape', () => {
    const table: [string, string][] = [
      ['', ''],
      ['signin', 'signin'],
      ['v2', 'v2'],
      ['user-admin', 'user-admin'],
      ['a_b.c', 'a_b.c'],
      ['..', '..'],
      ['lifecycleFlowsForAll', 'lifecycleFlowsForAll'],
      ['x'.repeat(64), 'x'.repeat(64)],
      ['x'.repeat(65), 'token(65)'],
      ['12345678', '12345678'],
      ['123456789', 'digits(9)'],
      ['0AfJohXkq9TzB3mWcR7Lp', 'token(21)'],
      ['QWERTYUIOPasdfgh', 'word(16)'],
      ['a b', 'list(2)'],
      ['n%65ws', 'token(6)'],
      ['<script>', 'token(8)'],
      ['a\n', 'text(2)'],
      ['é', 'text(1)'],
      ['__proto__', '__proto__'],
    ]
    for (const [name, shown] of table) assert.equal(safeName(name), shown, JSON.stringify(name))
  })
})

describe('isName()', () => {
  it('is true of [A-Za-z0-9._-], up to 64 characters, that are no token', () => {
    const names = ['a', 'A-1.b_c', 'x'.repeat(64), 'report-2024-for-everybody'.slice(0, 15)]
    for (const name of names) assert.equal(isName(name), true, name)
    const others = [
      '',
      ' ',
      'a/b',
      'a\n',
      'é',
      'x'.repeat(65),
      '1'.repeat(9),
      'abcdefghijkl1234',
      'abcdefgh1234567',
      'kq7xz9vt2mwp',
      'abcdefghijklmnopqrstuvwx',
    ]
    for (const name of others) assert.equal(isName(name), false, name)
  })
})
