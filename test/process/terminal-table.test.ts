import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { alignedRows, paint, terminalTable } from '../../lib/process/terminal-table.ts'

const rows = [
  ['URL', 'FILE'],
  ['/news', 'a.js:1'],
  ['/', 'built in'],
]

describe('terminalTable()', () => {
  it('aligns its columns, without trailing spaces', () => {
    const text = 'URL    FILE\n/news  a.js:1\n/      built in\n'
    assert.equal(terminalTable(rows, { color: false }), text)
    assert.equal(
      terminalTable(
        [
          ['A', 'B'],
          ['a', ''],
        ],
        { color: false },
      ),
      'A  B\na\n',
    )
  })

  it('has the same text in colours', () => {
    const text = terminalTable(rows, { color: true })
    assert.match(text, /^\u001b\[1mURL {4}FILE\u001b\[0m\n\/news {2}\u001b\[2ma\.js:1\u001b\[0m\n/)
    const plain = text.replace(/\u001b\[\d+m/g, '')
    assert.equal(plain, terminalTable(rows, { color: false }))
  })
})

describe('alignedRows()', () => {
  it('escapes characters that could move the cursor', () => {
    assert.deepEqual(alignedRows([['\u001b[2J', 'b']]), [['\\u001b[2J', 'b']])
  })
})

describe('paint()', () => {
  it('returns empty text, and any text without colours, unchanged', () => {
    assert.equal(paint('', 'red', { color: true }), '')
    assert.equal(paint('a', 'red', { color: false }), 'a')
    assert.equal(paint('a', 'red', { color: true }), '\u001b[31ma\u001b[0m')
  })
})
