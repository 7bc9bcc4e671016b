import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultTable, journalTable, routeTable } from '../../lib/observe/page-tables.ts'
import { bucketsOf, createEntry, createFault, createRoute, NOW } from '../support/snapshot.ts'

// The texts of the cells, row by row.
function rowsOf(table: object | undefined): readonly (readonly string[])[] {
  const [, body = ''] = /<tbody>(.*)<\/tbody>/s.exec(String(table)) ?? []
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
      cell
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    ),
  )
}

describe('routeTable()', () => {
  it('has the route that took the most time first, with its errors, quantiles and bytes', () => {
    const table = routeTable([
      createRoute('news/view', 5),
      createRoute('news/list', 80, 5),
      { ...createRoute('', 10, 4), kind: 'unrouted' },
      { ...createRoute('', 5), kind: 'public' },
      { ...createRoute('news/slow', 1), buckets: bucketsOf(20, 1), durationSum: 20 },
      { ...createRoute('news/fast', 9), buckets: bucketsOf(0.000_1, 9), durationSum: 0 },
    ])
    const latency = ['3.8 ms', '4.9 ms', '5 ms']
    assert.deepEqual(rowsOf(table), [
      ['news/slow', '1', '0', '0', '99 %', '≥ 10 s', '≥ 10 s', '≥ 10 s', '1,000 B'],
      ['news/list', '80', '0', '80', '1.2 %', ...latency, '78.1 KiB'],
      ['(no action)', '10', '10', '0', '0.2 %', ...latency, '9.8 KiB'],
      ['news/view', '5', '0', '0', '&lt;0.1 %', ...latency, '4.9 KiB'],
      ['(public files)', '5', '0', '0', '&lt;0.1 %', ...latency, '4.9 KiB'],
      ['news/fast', '9', '0', '0', '0 %', '≤ 1 ms', '≤ 1 ms', '≤ 1 ms', '8.8 KiB'],
    ])
    assert.match(String(table), /<td class="n bad" data-label="5xx">80</)
    assert.match(String(table), /<td class="n zero" data-label="5xx">0</)
  })

  it('shows 15 rows, folds up to 200, and says how many are missing', () => {
    const of = (count: number): string =>
      String(routeTable(Array.from({ length: count }, (_, i) => createRoute(`a/b${i}`, 1))))
    const countIn = (text: string): number => text.split('<td class="name"').length - 1
    assert.deepEqual([countIn(of(15)), of(15).includes('<details')], [15, false])
    const [shown = '', folded = ''] = of(203).split('<details id="routes"><summary>185 more<')
    assert.deepEqual([countIn(shown), countIn(folded)], [15, 185])
    assert.match(folded, /3 more are in the JSON/)
    assert.doesNotMatch(of(200), /in the JSON/)
  })

  it('is absent without a request', () => {
    assert.equal(routeTable([]), undefined)
  })
})

describe('faultTable()', () => {
  it('has the latest error first, with two of its ids', () => {
    const table = faultTable(
      'errors',
      10,
      [
        createFault({ fingerprint: 'old', lastAt: NOW - 120_000, ids: [] }),
        createFault({ fingerprint: 'new', status: 404, lastAt: NOW }),
        createFault({ count: 1_200, firstAt: NOW - 86_400_000, ids: ['a', 'b', 'c'] }),
      ],
      NOW,
    )
    assert.deepEqual(rowsOf(table), [
      ['new', '404', '1', '1 min ago', 'now', createFault().ids.join()],
      [createFault().fingerprint, '500', '1,200', '1 d ago', '1 min ago', 'a b'],
      ['old', '500', '1', '1 min ago', '2 min ago', ''],
    ])
    assert.match(String(table), /<td class="n bad" data-label="Status">500</)
  })
})

describe('journalTable()', () => {
  it('has the most frequent path first, with its parameters, their shapes and the hint', () => {
    const table = journalTable(
      [
        createEntry({ hint: 'Register a controller' }),
        createEntry({ path: '/x', count: 99, params: [] }),
      ],
      NOW,
    )
    assert.deepEqual(rowsOf(table), [
      ['GET /x', '99', '2 h ago', '5 s ago', ''],
      [
        'GET /signin/v2/&lt;3&gt;',
        '31',
        '2 h ago',
        '5 s ago',
        'Register a controller dsh token(21) 20×, token(22) 11× continue url?',
      ],
    ])
  })
})
