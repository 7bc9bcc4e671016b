import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { type OperatorView, operatorPage } from '../../lib/observe/operator-page.ts'
import { POLICY } from '../../lib/observe/page-style.ts'
import {
  bucketsOf,
  createEntry,
  createFault,
  createRoute,
  createSnapshot,
  NOW,
} from '../support/snapshot.ts'

const pageOf = (view: Partial<OperatorView> = {}): string =>
  operatorPage({ snapshot: createSnapshot(), isReady: true, config: {}, now: NOW, ...view })

// The text of a tile.
function tileOf(page: string, name: string): string {
  const [, text = ''] = new RegExp(`<dt>${name}</dt><dd[^>]*>(.*?)</dd>`, 's').exec(page) ?? []
  return text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

describe('operatorPage()', () => {
  it('says for everything that nothing has happened yet', () => {
    const page = pageOf()
    const sections = [...page.matchAll(/<h2>([^<]*)<\/h2><p class="soft">([^<]*)<\/p>/g)]
    assert.deepEqual(
      sections.map(([, title, text]) => [title, text]),
      [
        ['Routes', 'No request yet.'],
        ['Server errors', 'None yet.'],
        ['Requests that failed', 'None yet.'],
        ['Rejected requests', 'None yet.'],
        ['Kinds of errors', 'None yet.'],
        ['Limits that were hit', 'None yet.'],
        ['Configuration', 'Not given.'],
      ],
    )
  })

  it('shows the state of the process', () => {
    assert.match(pageOf(), /<h1>Portico 1\.2\.3<\/h1><span class="status">ready</)
    assert.match(pageOf(), /up 1 h · process 4711 · Node v20\.19\.0/)
    assert.match(pageOf({ isReady: false }), /<span class="status bad">not ready</)
    assert.match(pageOf({ snapshot: createSnapshot({ workers: 4 }) }), /4 workers of process 4711/)
  })

  it('sums the requests of all routes, and shows what the last hour was like', () => {
    const minute = NOW - (NOW % 60_000)
    const buckets = bucketsOf(0.003, 600)
    const snapshot = createSnapshot({
      routes: [createRoute('news/list', 1_998), createRoute('news/view', 20, 5)],
      minutes: [
        // This minute is one of the hour before.
        { at: minute - 3_600_000, requests: 9, errors: 9, buckets: bucketsOf(9, 9) },
        { at: minute - 60_000, requests: 643, errors: 2, buckets },
        { at: minute, requests: 7, errors: 0, buckets },
      ],
    })
    const page = pageOf({ snapshot })
    // 650 requests since the start of the minute before, 65 s ago.
    assert.deepEqual(tileOf(page, 'Requests per second'), '10 in the last 2 minutes 2,018 in all')
    assert.deepEqual(tileOf(page, 'Server errors'), '0.3 % 2 in the last hour 20 in all')
    assert.match(page, /<dd class="bad">0\.3 %/)
    assert.deepEqual(tileOf(page, 'Median latency'), '3.8 ms p95 4.9 ms p99 5 ms in the last hour')
    // Only the last two minutes have bars. The scale ends at 800.
    assert.match(page, /<path class="requests" d="M581 120v-96.5h8V120zM591 120v-2h8V120z"/)
  })

  it('has the rate since the start of a process that has just started', () => {
    const at = NOW - (NOW % 60_000)
    const minutes = [{ at, requests: 40, errors: 0, buckets: bucketsOf(0.003, 40) }]
    const snapshot = createSnapshot({ startedAt: NOW - 4_000, minutes })
    const page = pageOf({ snapshot })
    assert.match(tileOf(page, 'Requests per second'), /^10 /)
    assert.doesNotMatch(page, /<dd class="bad">/)
  })

  it('has the errors of the server apart from the requests that it rejected', () => {
    const rejected = createFault({ fingerprint: 'rejected', status: 404 })
    const page = pageOf({ snapshot: createSnapshot({ faults: [rejected, createFault()] }) })
    const [, errors = '', rejections = ''] =
      /<h2>Server errors<(.*)<h2>Rejected requests<(.*)/s.exec(page) ?? []
    assert.ok(errors.includes(createFault().fingerprint))
    assert.ok(!errors.includes('>rejected<') && rejections.includes('>rejected<'))
  })

  it('counts an error of two kinds, and a limit only if it was hit', () => {
    const snapshot = createSnapshot({
      errors: [
        { cause: 'server', type: 'EXCEPTION_OTHER', route: 'a/b', count: 1 },
        { cause: 'server', type: 'EXCEPTION_OTHER', route: 'a/c', count: 2 },
      ],
      unrouted: [{ kind: 'provider page', count: 5 }],
      limits: [
        { name: 'target', count: 3 },
        { name: 'body', count: 0 },
      ],
    })
    const page = pageOf({ snapshot, config: { port: '3000', accessLog: 'true' } })
    const facts = [...page.matchAll(/<div><dt>([^<]*)<\/dt><dd>([^<]*)<\/dd><\/div>/g)]
    assert.deepEqual(
      facts.map(([, name, value]) => [name, value]),
      [
        ['provider page', '5'],
        ['EXCEPTION_OTHER', '3'],
        ['target', '3'],
        ['port', '3000'],
        ['accessLog', 'true'],
      ],
    )
  })

  it('escapes every text', () => {
    const hostile = '<script>alert(1)</script>"\''
    const param = { name: hostile, count: 1, shapes: [{ shape: hostile, count: 1 }] }
    const snapshot = createSnapshot({
      routes: [createRoute(hostile, 1)],
      faults: [createFault({ fingerprint: hostile, ids: [hostile] })],
      journal: [createEntry({ path: hostile, method: hostile, hint: hostile, params: [param] })],
      unrouted: [{ kind: hostile, count: 1 }],
    })
    const page = pageOf({ snapshot, config: { [hostile]: hostile } })
    assert.equal(page.includes('<script>alert'), false)
    assert.equal(page.split('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;').length, 12)
  })

  it('has the one script that its policy allows, and no style of its own', () => {
    const [, script = '', ...others] = pageOf().split(/<script>|<\/script>/)
    assert.equal(others.length, 1)
    const hash = createHash('sha256').update(script).digest('base64')
    assert.ok(POLICY.includes(`script-src 'sha256-${hash}';`))
    assert.equal(POLICY.includes('unsafe'), false)
    assert.doesNotMatch(pageOf(), / style=| on[a-z]+=|<style/)
  })
})
