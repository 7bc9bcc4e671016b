import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { fold } from '../../lib/scrubbing/text-forms.ts'
import { TextMask } from '../../lib/scrubbing/text-mask.ts'

type Value = readonly [label: string, value: string]

// Few letters, so that texts and values have much in common. The digit lets a short value be a part of a word.
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '1'), maxLength: 60 })
const short = fc
  .string({ unit: fc.constantFrom('a', 'A', 'b', '1'), minLength: 4, maxLength: 7 })
  .filter((value) => value.includes('1'))
const long = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '1'), minLength: 8, maxLength: 24 })

function mask(texts: readonly string[], values: readonly Value[]): string[] {
  const mask = TextMask.of(texts, [], 50_000)
  assert.ok(mask)
  for (const [label, value] of values) mask.cover(label, fold(value))
  return mask.texts()
}

// Masks a text by a plain and slow search: the longest runs first, with the label of the first value that has a run.
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
    .replace(/([xyz])[xyz]*/g, '[$1]')
}

describe('TextMask', () => {
  it('masks what a plain search would find, under the same labels', () => {
    const label = fc.constantFrom('x', 'y', 'z')
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
          .tuple(fc.nat(text.length), fc.integer({ min: 4, max: 20 }), fc.constantFrom('x', 'y'))
          .map(([at, length, label]): Value => [label, text.slice(at, at + length).padEnd(4, '1')])
          .filter(([, value]) => value.length >= 8 || value.includes('1')),
      )
    const both = text.chain((text) => fc.tuple(fc.constant(text), piecesOf(text)))
    fc.assert(
      fc.property(both, ([text, values]) => {
        assert.deepEqual(mask([text], values), [maskPlainly(text, values)])
      }),
    )
  })

  it('masks two occurrences of a short value that overlap', () => {
    assert.deepEqual(mask(['xab1ab1abx'], [['v', 'ab1ab']]), ['x[v]x'])
  })

  it('masks a short value without a digit only as a whole word', () => {
    const table: [text: string, value: string, masked: string][] = [
      ['undefined is fine', 'fine', 'undefined is [v]'],
      ['the username of user_user', 'user', 'the username of [v]_[v]'],
      ['"a-b!"a-b!', 'a-b!', '"[v]"[v]'],
      ['пароль пароль1 паролья', 'пароль', '[v] пароль1 паролья'],
    ]
    for (const [text, value, masked] of table) {
      assert.deepEqual(mask([text], [['v', value]]), [masked])
    }
  })

  it('leaves the words of the fixed messages of V8', () => {
    const table: [text: string, masked: string][] = [
      [
        "Cannot read properties of undefined (reading 'read')",
        "Cannot read properties of undefined (reading '[v]')",
      ],
      ['Could not read', 'Could not [v]'],
      ['read is not a function', '[v] is not a function'],
    ]
    for (const [text, masked] of table) assert.deepEqual(mask([text], [['v', 'read']]), [masked])
  })

  it('ignores accents, ligatures and the width of letters', () => {
    const pairs = [
      ['Straße7', 'STRASSE7'],
      ['Łukøszđħŧ', 'lukoszdht'],
      ['مُحَمَّدُ بْنُ عَبْدِ', 'محمد بن عبد'],
      ['パスワードが', 'ハスワードか'],
      ['ﬃnanzen', 'FFINANZEN'],
      ['Zoe\u0308 Mu\u0308ller', 'Zoë Müller'],
      ['비밀번호입니다'.normalize('NFD'), '비밀번호입니다'],
      ['ｐａｓｓｗｏｒｄ１２３４', 'password1234'],
      ['qu7x＋z9kp﹢w4vb', 'qu7x+z9kp+w4vb'],
    ] as const
    for (const [one, other] of pairs) {
      assert.deepEqual(mask([`no ${other}!`], [['v', one]]), ['no [v]!'])
      assert.deepEqual(mask([`no ${one}!`], [['v', other]]), ['no [v]!'])
    }
  })

  it('cuts runs of marks, also of characters that folding makes marks', () => {
    // Folding sorts marks by their canonical combining class. Next to one of these, each mark of a class other than 0 is moved.
    const isSorted = (text: string): boolean =>
      [`\u0334${text}`, `${text}\u0334`, `\u0345${text}`].some(
        (each) => each.normalize('NFD') !== each,
      )
    const unlisted: string[] = []
    for (let code = 0x80; code < 0x1_1000; code++) {
      const character = String.fromCodePoint(code)
      const [first = ''] = character.normalize('NFKD')
      if (first === character || !isSorted(first) || !/^\p{M}/u.test(first)) continue
      if (!/[\p{M}\uff9e\uff9f]/u.test(character)) unlisted.push(code.toString(16))
    }
    assert.deepEqual(unlisted, [])
    assert.equal(fold(`e${'\u0301\uff9e'.repeat(1_000)}x`), 'ex')
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
      ['τῶι λόγῳ', 'ΤΩ͂Ι ΛΌΓΩΙ'],
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
    const text = values.slice(0, 2_000).map(([, value]) => value)
    assert.equal(mask([text.join(' ')], values)[0], text.map(() => '[v]').join(' '))
  })
})
