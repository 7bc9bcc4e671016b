import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultTable, journalTable, routeTable } from '../../lib/observe/page-tables.ts'
import { createEntry, createFault, createRoute, NOW } from '../support/snapshot.ts'

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
  it('has the most frequent route first, with its errors, quantiles and bytes', () => {
    const table = routeTable([
      createRoute('news/view', 5),
      createRoute('news/list', 2_000, 5),
      { ...createRoute('', 10, 4), kind: 'unrouted' },
      { ...createRoute('', 7), kind: 'public' },
    ])
    const latency = ['3.8 ms', '4.9 ms', '5 ms']
    assert.deepEqual(rowsOf(table), [
      ['news/list', '2,000', '0', '2,000', ...latency, '1.9 MiB'],
      ['(no action)', '10', '10', '0', ...latency, '9.8 KiB'],
      ['(public files)', '7', '0', '0', ...latency, '6.8 KiB'],
      ['news/view', '5', '0', '0', ...latency, '4.9 KiB'],
    ])
    assert.match(String(table), /<td class="n bad" data-label="5xx">2,000</)
  })

  it('has at most 200 rows, and says how many are missing', () => {
    const table = routeTable(Array.from({ length: 203 }, (_, i) => createRoute(`a/b${i}`, 1)))
    assert.equal(rowsOf(table).length, 200)
    assert.match(String(table), /3 more are in the JSON/)
  })

  it('is absent without a request', () => {
    assert.equal(routeTable([]), undefined)
  })
})

describe('faultTable()', () => {
  it('has server errors first, and then the latest error', () => {
    const table = faultTable(
      [
        createFault({ fingerprint: 'old 404', status: 404, lastAt: NOW - 120_000 }),
        createFault({ fingerprint: 'new 404', status: 404, lastAt: NOW, ids: [] }),
        createFault({ count: 1_200, firstAt: NOW - 86_400_000, ids: ['a', 'b'] }),
      ],
      NOW,
    )
    assert.deepEqual(rowsOf(table), [
      [createFault().fingerprint, '500', '1,200', '1 d ago', '1 min ago', 'a b'],
      ['new 404', '404', '1', '1 min ago', 'now', ''],
      ['old 404', '404', '1', '1 min ago', '2 min ago', createFault().ids.join()],
    ])
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
