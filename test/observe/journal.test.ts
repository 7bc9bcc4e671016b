import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequestInit } from '../../lib/http/message.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { Journal } from '../../lib/observe/journal.ts'
import { EntryCounts } from '../../lib/observe/journal-entry.ts'
import { createFront } from '../support/front.ts'

const front = createFront({ news: { view() {} } })

async function record(journal: Journal, init: HttpRequestInit | string, hint?: string) {
  const request = new HttpRequest(typeof init === 'string' ? { target: init } : init)
  const response = await front.handle(request)
  assert.ok(response.request)
  journal.record(response.request, hint)
}

async function entriesOf(...inits: readonly (HttpRequestInit | string)[]) {
  const journal = new Journal()
  for (const init of inits) await record(journal, init)
  return journal.entries
}

async function pathOf(target: string): Promise<string | undefined> {
  return (await entriesOf(target))[0]?.path
}

describe('Journal', () => {
  it('shows the parameters of a request by their names, with shapes and counts', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const [get, post] = await entriesOf(
      '/signin/v2?dsh=S-123456789&continue=https%3A%2F%2Fa.example%2F%3Fb',
      '/signin/v2?dsh=S-1234567890123&flow=abc',
      { target: '/signin/v2', method: 'POST', headers: form, body: 'pin=1234&empty=' },
    )
    assert.deepEqual([get?.path, get?.method, get?.count], ['/signin/v2', 'GET', 2])
    assert.deepEqual(get?.params, [
      { name: 'dsh', count: 2, shapes: [{ shape: 'token(11-15)', count: 2 }] },
      { name: 'continue', count: 1, shapes: [{ shape: 'url?', count: 1 }] },
      { name: 'flow', count: 1, shapes: [{ shape: 'word(3)', count: 1 }] },
    ])
    assert.deepEqual([post?.path, post?.method, post?.count], ['/signin/v2', 'POST', 1])
    assert.deepEqual(post?.params, [
      { name: 'pin', count: 1, shapes: [{ shape: 'digits(4)', count: 1 }] },
      { name: 'empty', count: 1, shapes: [{ shape: 'empty', count: 1 }] },
    ])
  })

  it('shows the names of a path, and its values by their positions', async () => {
    const paths = {
      '/': '/',
      '/signin/v2/identifier': '/signin/v2/<3>',
      '/signin/v2/id/42/tag/hunter2/': '/signin/v2/id/<4>/tag/<6>',
      // The name of the first parameter is empty, and the second one has no value.
      '/signin/v2//hunter/id': '/signin/v2/<3>/<4>',
      '/signin/v2/id//tag/hunter': '/signin/v2/id/tag/<5>',
      '/o/4%2F0AfJohXkq7hGd83HdkwPq1': '/o/<2>',
      '/0AfJohXkq7hGd83HdkwPq1': '/<1>',
      '/%ff/secret': '/<1>/secret',
      '/a/b/c/d/e/f/g/h/i': '/a/b/c/<4>/e/<6>/…',
    }
    for (const [target, path] of Object.entries(paths)) assert.equal(await pathOf(target), path)
  })

  it('has the first and the last time, and the latest hint', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_000 })
    const journal = new Journal()
    await record(journal, '/a', 'One')
    t.mock.timers.tick(500)
    await record(journal, '/a', 'Two')
    t.mock.timers.tick(500)
    await record(journal, '/a')
    const [{ firstAt, lastAt, hint } = {}] = journal.entries
    assert.deepEqual([firstAt, lastAt, hint], [1_000, 2_000, 'Two'])
  })

  it('is bounded, with exact counts, whatever is requested', async () => {
    const journal = new Journal()
    for (let i = 0; i < 3_000; i++) {
      const names = Array.from({ length: 60 }, (_, j) => `p${i % 50}x${j}=1`)
      const method = ['GET', 'POST', 'BREW', 'MAKE'][i % 4] ?? ''
      await record(journal, { target: `/scan${i}/sub${i % 70}?${names.join('&')}`, method })
    }
    const { entries } = journal
    assert.equal(
      entries.reduce((sum, { count }) => sum + count, 0),
      3_000,
    )
    assert.ok(entries.length <= 201)
    assert.ok(entries.every(({ params }) => params.length <= 25))
    assert.deepEqual([...new Set(entries.map(({ method }) => method))].sort(), [
      'GET',
      'POST',
      'other',
    ])
  })

  it('lists the parameters of the entries that it shows, and of no others', async (t) => {
    const journal = new Journal()
    for (let i = 0; i < 3_000; i++) await record(journal, `/scan${i % 48}/sub${i % 70}/x${i}?a=1`)
    const { mock } = t.mock.method(EntryCounts.prototype, 'toJournalEntry')
    const { entries } = journal
    const listed = mock.calls.filter(({ result }) => (result?.params.length ?? 0) > 0)
    assert.ok(mock.callCount() > 400)
    assert.equal(listed.length, entries.filter(({ params }) => params.length > 0).length)
  })

  it('shows no value of a request', async () => {
    const canary = 'hunter2'
    const names = '?code=hunter2&x=a,hunter2&4%2F0AfJohXkq7hGd83HdkwPq1=hunter2'
    const entries = await entriesOf(
      `/oauth/return/id/${canary}/${canary}${names}`,
      `/a/b/${canary}`,
      `/%zz/return/id/${canary}${names}`,
      { target: `/a${names}`, method: canary },
    )
    assert.equal(JSON.stringify(entries).includes(canary), false)
    assert.equal(JSON.stringify(entries).includes('AfJohXkq'), false)
  })
})
