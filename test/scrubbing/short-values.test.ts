import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ShortValues } from '../../lib/scrubbing/short-values.ts'

function find(text: string, ...values: readonly string[]): string[] {
  const short = new ShortValues(text)
  values.forEach((value, i) => {
    short.add(value, i + 1)
  })
  const found: string[] = []
  short.findAll(({ at, length, label, isWord }) => {
    found.push(`${label}: ${text.slice(at, at + length)}${isWord ? '' : ' within'}`)
  })
  return found
}

describe('ShortValues', () => {
  it('finds values of 4 to 7 characters, those without a digit as whole words only', () => {
    assert.deepEqual(find('abcd abcde xabcd', 'abcd'), ['1: abcd'])
    assert.deepEqual(find('ab1d xab1dx', 'ab1d'), ['1: ab1d', '1: ab1d within'])
    assert.deepEqual(find('abc', 'abc'), [])
  })

  it('finds the longest value at each place, under the label that it got first', () => {
    assert.deepEqual(find('12345', '1234', '12345', '12345'), ['2: 12345', ...[]])
    assert.deepEqual(find('abcd ef', 'abcd', 'abcd ef'), ['2: abcd ef'])
    assert.deepEqual(find('abcd efg', 'abcd', 'abcd ef'), ['1: abcd'])
  })

  it('looks up no value that would end within a word', (t) => {
    const text = Array.from({ length: 2_000 }, (_, i) => 'ab'[((i * i * 7) % 11) & 1]).join('')
    const short = new ShortValues(text)
    for (const length of [4, 5, 6, 7])
      for (let at = 0; at < 200; at++) short.add(text.slice(at, at + length), 1)
    const { slice } = String.prototype
    let lookups = 0
    t.mock.method(String.prototype, 'slice', function (this: string, ...args: [number]) {
      lookups++
      return slice.apply(this, args)
    })
    short.findAll(() => assert.fail('No value is a word'))
    // startsWord() may take a part of the text too.
    assert.ok(lookups < 10, `${lookups} lookups`)
  })
})
