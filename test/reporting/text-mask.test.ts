import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { TextMask } from '../../lib/reporting/text-mask.ts'

type Value = readonly [label: string, value: string]

// Few letters, so that texts and values have much in common.
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '-'), maxLength: 60 })
const short = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '-'), minLength: 4, maxLength: 7 })
const long = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '-'), minLength: 8, maxLength: 24 })

function mask(texts: readonly string[], values: readonly Value[]): string[] {
  const mask = new TextMask(texts)
  for (const [label, value] of values) mask.cover(label, value)
  return mask.texts()
}

// A plain and slow search: the longest runs first, and of two values that have a run the first one.
function maskPlainly(text: string, values: readonly Value[]): string {
  const labels: string[] = Array(text.length).fill('')
  for (let length = 8; length > 0; length--) {
    const candidates = values.filter(([, value]) => Math.min(value.length, 8) === length)
    for (let at = 0; at + length <= text.length; at++) {
      const run = text.slice(at, at + length).toLowerCase()
      const found = candidates.find(([, value]) => value.toLowerCase().includes(run))
      for (let i = at; found && i < at + length; i++) labels[i] ||= found[0]
    }
  }
  return Array.from(text, (letter, at) => labels[at] || letter)
    .join('')
    .replace(/([1-9])[1-9]*/g, '[$1]')
}

describe('TextMask', () => {
  it('masks what a plain search would find, under the same labels', () => {
    const label = fc.constantFrom('1', '2', '3')
    const values = fc.array(fc.tuple(label, fc.oneof(short, long)), { maxLength: 6 })
    fc.assert(
      fc.property(fc.array(text), values, (texts, values) => {
        const expected = texts.map((text) => maskPlainly(text, values))
        assert.deepEqual(mask(texts, values), expected)
      }),
    )
  })

  it('finds pieces of a text in values that share much with it', () => {
    const piecesOf = (text: string) =>
      fc.array(
        fc
          .tuple(fc.nat(text.length), fc.integer({ min: 4, max: 20 }), fc.constantFrom('1', '2'))
          .map(([at, length, label]): Value => [label, text.slice(at, at + length).padEnd(4, 'a')]),
      )
    const both = text.chain((text) => fc.tuple(fc.constant(text), piecesOf(text)))
    fc.assert(
      fc.property(both, ([text, values]) => {
        assert.deepEqual(mask([text], values), [maskPlainly(text, values)])
      }),
    )
  })

  it('masks two occurrences of a short value that overlap', () => {
    assert.deepEqual(mask(['xabababbx'], [['v', 'abab']]), ['x[v]bx'])
  })

  it('finds no value across the border of two texts', () => {
    const texts = ['abcd', 'efghijkl']
    assert.deepEqual(
      mask(texts, [
        ['v', 'abcdefgh'],
        ['w', 'abcdefg'],
      ]),
      texts,
    )
  })

  it('ignores case, in any script', () => {
    const pairs = [
      ['пароль-сезам', 'ПАРОЛЬ-СЕЗАМ'],
      ['ünïcödëpässwörd', 'ÜNÏCÖDËPÄSSWÖRD'],
      ['λόγος', 'ΛΌΓΟΣ'],
      ['λόγοσ!', 'λόγος!'],
      ['kırmızıbalık', 'KIRMIZIBALIK'],
      ['istanbul', 'İSTANBUL'],
      ['𐐨𐐩𐐪𐐫', '𐐀𐐁𐐂𐐃'],
      ['straßenbahn', 'STRAẞENBAHN'],
    ] as const
    for (const [small, capital] of pairs) {
      assert.deepEqual(mask([`no ${capital} here`], [['v', small]]), ['no [v] here'])
      assert.deepEqual(mask([`no ${small} here`], [['v', capital]]), ['no [v] here'])
    }
  })

  it('masks at the right index after letters whose capitals are longer', () => {
    const [masked] = mask(['ßßİİ ŉ ﬃ пароль ß'], [['v', 'ПАРОЛЬ']])
    assert.equal(masked, 'ßßİİ ŉ ﬃ [v] ß')
  })

  it('masks texts and values of one letter', () => {
    const shorter = Array.from({ length: 4_000 }, (_, i): Value => ['a', 'z'.repeat(8 + (i % 40))])
    const text = `${'z'.repeat(16_000)} Kq7xZ9vT2mWp`
    const [masked] = mask([text], [...shorter, ['b', 'Kq7xZ9vT2mWp']])
    assert.equal(masked, '[a] [b]')
  })

  it('finds each of a hundred thousand values', () => {
    const digits = (i: number): string => i.toString(36).padStart(7, '0')
    const values = Array.from({ length: 100_000 }, (_, i): Value => ['v', digits(i).slice(i % 4)])
    const text = values.slice(0, 3_000).map(([, value]) => value)
    assert.equal(mask([text.join(' ')], values)[0], text.map(() => '[v]').join(' '))
  })
})
