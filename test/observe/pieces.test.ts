import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inPieces, jsonTexts, toOutgoing } from '../../lib/observe/pieces.ts'

const LINE = 'x'.repeat(1_000)
const linesOf = (count: number): readonly string[] => new Array(count).fill(LINE)

describe('inPieces()', () => {
  it('joins texts to pieces of about 64 KiB, and loses nothing', () => {
    const pieces = [...inPieces(linesOf(200))]
    assert.deepEqual(
      pieces.map(({ length }) => length),
      [66_000, 66_000, 66_000, 2_000],
    )
    assert.deepEqual([...inPieces(['a', '', 'b'])], ['ab'])
    assert.deepEqual([...inPieces([])], [])
  })

  it('makes a piece when it is requested', () => {
    let made = 0
    const pieces = inPieces(
      (function* () {
        for (const line of linesOf(1_000)) {
          made++
          yield line
        }
      })(),
    )
    pieces.next()
    assert.equal(made, 66)
  })
})

describe('jsonTexts()', () => {
  it('writes what JSON.stringify() writes, and a line break', () => {
    const data = { a: 1, b: [], c: [{ d: 'é"\n' }, [2], null], e: { f: [1] }, g: null, h: false }
    assert.equal([...jsonTexts(data)].join(''), `${JSON.stringify(data)}\n`)
    assert.equal(
      [...jsonTexts({ list: linesOf(500) })].join(''),
      `${JSON.stringify({ list: linesOf(500) })}\n`,
    )
  })

  it('writes each entry of a list alone', () => {
    const texts = [...jsonTexts({ list: linesOf(500) })]
    assert.ok(texts.length > 500, `${texts.length}`)
    assert.ok(texts.every(({ length }) => length < 2_000))
  })
})

describe('toOutgoing()', () => {
  it('has the length of a text that is one piece, in bytes', async () => {
    const { length, pieces } = toOutgoing(['é', 'a'])
    assert.equal(length, 3)
    assert.deepEqual(await listOf(pieces), ['éa'])
    assert.equal(toOutgoing([]).length, 0)
    assert.equal(toOutgoing(linesOf(100)).length, undefined)
  })

  it('lets other work run between the pieces of a long text', async () => {
    let turns = 0
    const count = (): void => {
      turns++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    const turnOf: number[] = []
    for await (const _ of toOutgoing(linesOf(1_000)).pieces) turnOf.push(turns)
    clearImmediate(timer)
    assert.equal(turnOf.length, 16)
    // toOutgoing() makes the first two pieces at once, to find out whether there is a second one.
    assert.equal(new Set(turnOf.slice(2)).size, 14)
  })
})

async function listOf(pieces: AsyncIterable<string>): Promise<readonly string[]> {
  const list: string[] = []
  for await (const piece of pieces) list.push(piece)
  return list
}
