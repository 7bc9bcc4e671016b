import { setImmediate as immediate } from 'node:timers/promises'

// About 1,000 lines of metrics, which take less than 1 ms.
const PIECE = 65_536

/** Joins texts to pieces of about 64 KiB: each one is made when it is requested. */
export function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = ''
  for (const text of texts) {
    piece += text
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** Writes an object as a line of JSON, in many texts: its lists may be long, and its other members are not. */
export function* jsonTexts(data: object): Iterable<string> {
  let before = '{'
  for (const [name, value] of Object.entries(data)) {
    yield `${before}${JSON.stringify(name)}:`
    if (Array.isArray(value)) yield* listTexts(value)
    else yield JSON.stringify(value)
    before = ','
  }
  yield '}\n'
}

function* listTexts(list: readonly unknown[]): Iterable<string> {
  yield '['
  for (const [i, entry] of list.entries()) yield `${i === 0 ? '' : ','}${JSON.stringify(entry)}`
  yield ']'
}

/** A text in pieces, and its length if it is one piece. */
export interface Outgoing {
  /** Number of bytes; undefined if there are several pieces. */
  readonly length: number | undefined
  /** Makes one piece in each turn of the event loop: a long text does not delay requests. */
  readonly pieces: AsyncIterable<string>
}

/** Makes the first piece of a text, and the second one if there is one. */
export function toOutgoing(texts: Iterable<string>): Outgoing {
  const pieces = inPieces(texts)
  const first = pieces.next()
  const second = pieces.next()
  const length = second.done === true ? Buffer.byteLength(first.value ?? '') : undefined
  return { length, pieces: onePerTurn(first, second, pieces) }
}

async function* onePerTurn(
  first: IteratorResult<string>,
  second: IteratorResult<string>,
  others: Iterable<string>,
): AsyncIterable<string> {
  for (const { done, value } of [first, second]) if (done !== true) yield value
  for (const piece of others) {
    yield piece
    await immediate()
  }
}
