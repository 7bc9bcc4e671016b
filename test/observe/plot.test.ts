import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { barPlot, linePlot } from '../../lib/observe/plot.ts'

const pathsOf = (markup: object): readonly string[] =>
  [...String(markup).matchAll(/ d="([^"]*)"/g)].map(([, path = '']) => path)

describe('barPlot()', () => {
  it('draws a bar for each value that is not zero, as high as its part of the highest', () => {
    const plot = barPlot(
      'Requests',
      [{ name: 'requests', values: [100, 0, 50, undefined] }],
      String,
    )
    assert.deepEqual(pathsOf(plot), ['M1 120v-116h148V120zM301 120v-58h148V120z'])
    assert.match(String(plot), /aria-label="Requests in the last hour, at most 100"/)
  })

  it('shows also a very small value', () => {
    const values = [1_000_000, 1]
    assert.deepEqual(pathsOf(barPlot('a', [{ name: 'b', values }], String)), [
      'M1 120v-116h298V120zM301 120v-2h298V120z',
    ])
  })

  it('draws nothing without a value', () => {
    assert.deepEqual(pathsOf(barPlot('a', [{ name: 'b', values: [] }], String)), [''])
    assert.deepEqual(pathsOf(barPlot('a', [{ name: 'b', values: [undefined, 0] }], String)), [''])
  })
})

describe('linePlot()', () => {
  it('interrupts the line where there is no value, and draws a single value as a dot', () => {
    const values = [10, 5, undefined, 0, undefined, 10]
    assert.deepEqual(pathsOf(linePlot('a', [{ name: 'b', values }], String)), [
      'M50 4h0L150 62M350 120h0M550 4h0',
    ])
  })

  it('uses one scale for all lines', () => {
    const all = [
      { name: 'p50', values: [5] },
      { name: 'p99', values: [10] },
    ]
    assert.deepEqual(pathsOf(linePlot('a', all, String)), ['M300 62h0', 'M300 4h0'])
  })
})
