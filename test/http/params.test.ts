import assert from 'node:assert/strict'
import querystring from 'node:querystring'
import { describe, it } from 'node:test'
import {
  decodeSegment,
  eachDecoded,
  eachField,
  eachPair,
  exceedsFields,
  exceedsPairs,
  parsePairs,
  parseSearch,
  reservedNames,
  type Visit,
} from '../../lib/http/params.ts'

const odd = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'valueOf', '0', '']

describe('reservedNames', () => {
  it('are the names that only routing sets', () => {
    assert.deepEqual([...reservedNames], ['module', 'controller', 'action', 'q', 'error_handler'])
  })
})

describe('parsePairs()', () => {
  it('decodes each side once, with "+" as a space', () => {
    const table: [string, [string, string][]][] = [
      ['', []],
      ['id/42', [['id', '42']]],
      ['id/42/tag', [['id', '42']]],
      ['NAME', []],
      [
        'a/1/a/2',
        [
          ['a', '1'],
          ['a', '2'],
        ],
      ],
      ['a+b/c%2Bd+e', [['a b', 'c+d e']]],
      ['a%20b/%C3%A9', [['a b', 'é']]],
      ['a/%2541', [['a', '%41']]],
      ['a%2Fb/c%2Fd', [['a/b', 'c/d']]],
      ['a&b=c/d=e&f', [['a&b=c', 'd=e&f']]],
      ['%26/%3D', [['&', '=']]],
      ['=/&', [['=', '&']]],
      ['/list', [['', 'list']]],
      ['a/', [['a', '']]],
      ['/', [['', '']]],
      [
        '//b/2',
        [
          ['', ''],
          ['b', '2'],
        ],
      ],
      ['?a/1', [['?a', '1']]],
      ['a;b/c,d', [['a;b', 'c,d']]],
    ]
    for (const [path, pairs] of table) assert.deepEqual([...parsePairs(path)], pairs, path)
  })

  it('reads any name as data', () => {
    for (const name of odd) assert.deepEqual([...parsePairs(`${name}/x`)], [[name, 'x']])
  })
})

describe('parseSearch()', () => {
  it('returns the fields in the order sent', () => {
    const table: [string, [string, string][]][] = [
      ['', []],
      [
        'a=1&b=2&a=3',
        [
          ['a', '1'],
          ['b', '2'],
          ['a', '3'],
        ],
      ],
      ['a+b=c%2Bd', [['a b', 'c+d']]],
      [
        'a&b=',
        [
          ['a', ''],
          ['b', ''],
        ],
      ],
      ['=x', [['', 'x']]],
      ['&&a=b=c&', [['a', 'b=c']]],
      ['a%26b=%3D', [['a&b', '=']]],
      [
        'a[b]=1&c.d=2',
        [
          ['a[b]', '1'],
          ['c.d', '2'],
        ],
      ],
      ['a=%', [['a', '%']]],
    ]
    for (const [search, fields] of table) assert.deepEqual([...parseSearch(search)], fields, search)
  })

  it('keeps a leading "?"', () => {
    assert.deepEqual([...parseSearch('?a=1')], [['?a', '1']])
    assert.deepEqual([...parseSearch('??')], [['??', '']])
  })

  it('reads any name as data', () => {
    for (const name of odd) assert.deepEqual([...parseSearch(`${name}=x`)], [[name, 'x']])
  })
})

describe('parseSearch() of escapes that are not UTF-8', () => {
  it('leaves them to no function of Node that throws for each of them', (t) => {
    // Node calls it after each exception. Its types do not declare it.
    const node = querystring as unknown as { unescapeBuffer(text: string): Buffer }
    const { mock } = t.mock.method(node, 'unescapeBuffer')
    const search = Array.from({ length: 900 }, (_, i) => `%ff${i}=%fe`).join('&')
    const parsed = [...parseSearch(search)]
    assert.deepEqual([parsed.length, parsed[1]], [900, ['\ufffd1', '\ufffd']])
    assert.equal(mock.callCount(), 0)
  })
})

describe('decodeSegment()', () => {
  it('does not divide a text at each of hundreds of plus signs', (t) => {
    const { mock } = t.mock.method(String.prototype, 'split')
    assert.equal(decodeSegment('+'.repeat(500)), ' '.repeat(500))
    assert.equal(mock.callCount(), 0)
  })
})

describe('eachDecoded()', () => {
  const pieces = [
    'a',
    'b=',
    '=',
    '&',
    '/',
    '+',
    '%',
    '%2',
    '%41',
    '%C3%A9',
    '%FF',
    'é',
    '\ud800',
    '?',
    '#',
    'a=1',
    '__proto__',
  ]

  const into =
    (map: Map<string, string>): Visit =>
    (name, value) =>
      map.set(name, value)

  // The same choices in every run.
  function* randomTexts(count: number): Generator<string> {
    let seed = 42
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor((seed / 2 ** 31) * below)
    }
    for (let i = 0; i < count; i++) {
      yield Array.from({ length: next(12) }, () => pieces[next(pieces.length)]).join('')
    }
  }

  // URLSearchParams removes one leading "?". Node.js 20 misreads "é" beside an invalid escape.
  const standard = (text: string): [string, string][] => {
    const ascii = text.toWellFormed().replace(/[^ -~]/gu, encodeURIComponent)
    return [...new URLSearchParams(`?${ascii}`)]
  }

  // In a path, "&" and "=" are ordinary characters.
  const standardPairs = (path: string): [string, string][] => {
    const segments = path.split('/').map((each) => each.replace(/[&=]/g, encodeURIComponent))
    const fields = segments.map((each, i) => (i % 2 === 0 ? each : `=${each}&`))
    return standard(fields.slice(0, fields.length & ~1).join(''))
  }

  it('agree with URLSearchParams on the last value of each name', () => {
    for (const text of randomTexts(20_000)) {
      const [search, path] = [new Map<string, string>(), new Map<string, string>()]
      eachDecoded(eachField, text, into(search))
      eachDecoded(eachPair, text, into(path))
      assert.deepEqual([...search], [...new Map(standard(text))], JSON.stringify(text))
      assert.deepEqual([...path], [...new Map(standardPairs(text))], JSON.stringify(text))
      assert.deepEqual([...parseSearch(text)], standard(text), JSON.stringify(text))
      assert.deepEqual([...parsePairs(text)], standardPairs(text), JSON.stringify(text))
    }
  })

  it('let later entries overwrite earlier ones', () => {
    const merged = new Map([['a', '0']])
    eachDecoded(eachField, 'a=1&b=1', into(merged))
    eachDecoded(eachPair, 'b/2/c/2', into(merged))
    assert.deepEqual(
      [...merged],
      [
        ['a', '1'],
        ['b', '2'],
        ['c', '2'],
      ],
    )
  })

  it('read any number of fields without "="', () => {
    const merged = new Map<string, string>()
    eachDecoded(eachField, 'a&'.repeat(500_000), into(merged))
    assert.deepEqual([...merged], [['a', '']])
  })
})

describe('exceedsFields()', () => {
  it('is false at the limit, and true one over it', () => {
    const table = [
      ['', 1, false],
      ['a', 1, false],
      ['a&b', 1, true],
      ['a=1&b=2&c=3', 3, false],
      ['a=1&b=2&c=3&d', 3, true],
      ['=&=', 1, true],
    ] as const
    for (const [search, limit, expected] of table) {
      assert.equal(exceedsFields(search, limit), expected, search)
    }
    const thousand = Array(1000).fill('a').join('&')
    assert.equal(exceedsFields(thousand, 1000), false)
    assert.equal(exceedsFields(`${thousand}&a`, 1000), true)
  })

  it('does not search for the end of each empty field', (t) => {
    const { mock } = t.mock.method(String.prototype, 'indexOf')
    assert.equal(exceedsFields(`a${'&'.repeat(5_000)}b`, 1), true)
    assert.deepEqual([...parseSearch(`é=1${'&'.repeat(5_000)}b=2`)].length, 2)
    assert.ok(mock.callCount() < 20, `${mock.callCount()}`)
  })

  it('does not count empty fields', () => {
    assert.equal(exceedsFields('&&&&a=1&&&&', 1), false)
    assert.equal(exceedsFields('&&&&a=1&&&&b', 1), true)
  })
})

describe('exceedsPairs()', () => {
  it('is false at the limit, and true one over it', () => {
    const table = [
      ['', 1, false],
      ['a/1', 1, false],
      ['a/1/b', 1, false],
      ['a/1/b/2', 1, true],
      ['a/1/b/', 1, true],
      ['///', 1, true],
      ['//', 1, false],
      ['long-name/and-a-long-value', 1, false],
    ] as const
    for (const [path, limit, expected] of table) {
      assert.equal(exceedsPairs(path, limit), expected, path)
    }
    const thousand = Array(1000).fill('a/1').join('/')
    assert.equal(exceedsPairs(`${thousand}/last`, 1000), false)
    assert.equal(exceedsPairs(`${thousand}/last/1`, 1000), true)
  })
})
