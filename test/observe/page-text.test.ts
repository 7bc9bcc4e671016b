import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  agoText,
  bytesText,
  numberText,
  percentText,
  secondsText,
  spanText,
} from '../../lib/observe/page-text.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('Texts of the operator page', () => {
  it('separate thousands, and round numbers', () => {
    const texts = [0, 7, 12.34, 1_234.5, 9_876_543].map(numberText)
    assert.deepEqual(texts, ['0', '7', '12.3', '1,235', '9,876,543'])
  })

  it('give durations in a unit that fits', () => {
    const texts = [undefined, 0, 0.00042, 0.0123, 0.999, 1, 12.34].map(secondsText)
    assert.deepEqual(texts, ['–', '0 ms', '0.4 ms', '12 ms', '1,000 ms', '1 s', '12.3 s'])
  })

  it('give bytes in a unit that fits', () => {
    const texts = [0, 1_023, 1_024, 1_500_000, 5 * 1_024 ** 3].map(bytesText)
    assert.deepEqual(texts, ['0 B', '1,023 B', '1 KiB', '1.4 MiB', '5 GiB'])
  })

  it('give parts in percent, also of nothing', () => {
    const parts = [
      [0, 0],
      [0, 5],
      [1, 10_000],
      [3, 1_000],
      [1, 8],
      [5, 5],
    ] as const
    const texts = parts.map(([part, whole]) => percentText(part, whole))
    assert.deepEqual(texts, ['0 %', '0 %', '<0.1 %', '0.3 %', '13 %', '100 %'])
  })

  it('give spans in two units that follow each other', () => {
    const spans = [-5, 999, 59_000, 61_000, HOUR, HOUR + 5_000, DAY + 4 * HOUR + MINUTE, 40 * DAY]
    const texts = ['0 s', '0 s', '59 s', '1 min 1 s', '1 h', '1 h', '1 d 4 h', '40 d']
    assert.deepEqual(spans.map(spanText), texts)
  })

  it('say how long ago a time was', () => {
    const texts = [500, -500, 5_000, 90 * MINUTE].map((ago) => agoText(DAY - ago, DAY))
    assert.deepEqual(texts, ['now', 'now', '5 s ago', '1 h ago'])
  })
})
