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

describe('operatorPage()', () => {
  it('says for everything that nothing has happened yet', () => {
    const page = pageOf()
    const sections = [...page.matchAll(/<h2>([^<]*)<\/h2><p class="soft">([^<]*)<\/p>/g)]
    assert.deepEqual(
      sections.map(([, title, text]) => [title, text]),
      [
        ['Routes', 'No request yet.'],
        ['Errors', 'No error yet.'],
        ['Requests that failed', 'None yet.'],
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

  it('sums the requests of all routes, and the rate of the last whole minute', () => {
    const minute = NOW - (NOW % 60_000)
    const buckets = bucketsOf(0.003, 600)
    const snapshot = createSnapshot({
      routes: [createRoute('news/list', 1_998), createRoute('news/view', 2, 5)],
      minutes: [
        { at: minute - 60_000, requests: 600, errors: 2, buckets },
        { at: minute, requests: 7, errors: 0, buckets },
      ],
    })
    const page = pageOf({ snapshot })
    assert.match(page, /<dd>2,000 <small>10 per second in the last minute</)
    assert.match(page, /<dd>0\.1 % <small>status 5xx: 2</)
    assert.match(page, /<dd>3\.8 ms <small>95 %: 4\.9 ms, 99 %: 5 ms</)
    // Bars of the last two minutes alone.
    assert.match(page, /<path class="requests" d="M581 120v-116h8V120zM591 120v-2h8V120z"/)
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
