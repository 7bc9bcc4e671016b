import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { barPlot, linePlot } from '../../lib/observe/plot.ts'

const pathsOf = (markup: object | string): readonly string[] =>
  [...String(markup).matchAll(/ class="(?!grid)[^"]*" d="([^"]*)"/g)].map(([, path = '']) => path)

const scaleOf = (highest: number): readonly string[] => {
  const plot = barPlot('a', [{ name: 'b', values: [highest] }], String)
  const [, axis = ''] = /<p class="axis y">(.*?)<\/p>/.exec(String(plot)) ?? []
  return [...axis.matchAll(/<span>([^<]*)</g)].map(([, text = '']) => text)
}

describe('barPlot()', () => {
  it('draws a bar for each value that is not zero, as high as its part of the highest', () => {
    const plot = barPlot(
      'Requests',
      [{ name: 'requests', values: [100, 0, 50, undefined] }],
      String,
    )
    assert.deepEqual(pathsOf(plot), ['M1 120v-120h148V120zM301 120v-60h148V120z'])
    assert.match(String(plot), /aria-label="Requests in the last hour, at most 100"/)
  })

  it('shows also a very small value', () => {
    const values = [1_000_000, 1]
    assert.deepEqual(pathsOf(barPlot('a', [{ name: 'b', values }], String)), [
      'M1 120v-120h298V120zM301 120v-2h298V120z',
    ])
  })

  it('says that there is no value', () => {
    for (const values of [[], [undefined, 0]]) {
      const plot = String(barPlot('a', [{ name: 'b', values }], String))
      assert.deepEqual(pathsOf(plot), [])
      assert.match(plot, /No request in the last hour/)
    }
  })

  it('has a scale from 0 to a round number', () => {
    assert.deepEqual(scaleOf(6_909), ['8000', '4000', '0'])
    assert.deepEqual(scaleOf(10), ['10', '5', '0'])
    assert.deepEqual(scaleOf(0.45), ['0.5', '0.25', '0'])
    assert.deepEqual(scaleOf(1_001), ['2000', '1000', '0'])
  })
})

describe('linePlot()', () => {
  it('interrupts the line where there is no value, and draws a single value as a dot', () => {
    const values = [10, 5, undefined, 0, undefined, 10]
    assert.deepEqual(pathsOf(linePlot('a', [{ name: 'b', values }], String)), [
      'M50 0h0L150 60M350 120h0M550 0h0',
    ])
  })

  it('uses one scale for all lines', () => {
    const all = [
      { name: 'p50', values: [5] },
      { name: 'p99', values: [10] },
    ]
    assert.deepEqual(pathsOf(linePlot('a', all, String)), ['M300 60h0', 'M300 0h0'])
  })
})
