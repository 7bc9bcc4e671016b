import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLine, printable } from '../../lib/scrubbing/printable.ts'

// Characters that could forge a line, move a cursor or reverse text, and lone surrogates.
const escapes: [string, string][] = [
  ['\0', '\\u0000'],
  ['\t', '\\u0009'],
  ['\n', '\\u000a'],
  ['\r', '\\u000d'],
  ['\u001b', '\\u001b'],
  ['\u007f', '\\u007f'],
  ['\u0085', '\\u0085'],
  ['\u009b', '\\u009b'],
  ['\u00ad', '\\u00ad'],
  ['\u200b', '\\u200b'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
  ['\u202e', '\\u202e'],
  ['\u2066', '\\u2066'],
  ['\ufeff', '\\ufeff'],
  ['\ud800', '\\ud800'],
  ['\udc00', '\\udc00'],
  // A tag character, beyond the first plane: two units.
  ['\u{e0041}', '\\udb40\\udc41'],
]
const plain = ' !"#$%&\'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~ é 中 🎉 \u00a0'

describe('printable()', () => {
  it('escapes invisible characters everywhere', () => {
    for (const [character, escaped] of escapes) {
      assert.equal(printable(`a${character}${character}b`), `a${escaped}${escaped}b`, escaped)
    }
    assert.equal(printable('\u001b[31mred\u001b[0m\r\n'), '\\u001b[31mred\\u001b[0m\\u000d\\u000a')
  })

  it('leaves everything else as it is', () => {
    for (const text of ['', plain]) assert.equal(printable(text), text)
  })
})

describe('jsonLine()', () => {
  it('is JSON of the same value, in one line', () => {
    const value = {
      text: escapes.map(([character]) => character).join('x'),
      plain,
      list: [1, null, true],
      '\n\u202e': {},
    }
    const line = jsonLine(value)
    assert.deepEqual(JSON.parse(line), value)
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  })

  it('escapes nothing twice', () => {
    assert.equal(jsonLine({ a: '\n"\u2028' }), '{"a":"\\n\\"\\u2028"}')
    assert.equal(jsonLine(plain), JSON.stringify(plain))
  })
})
