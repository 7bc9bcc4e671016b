import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { developmentFacts, developmentLines } from '../../lib/controllers/development-details.ts'
import { detailsWith, exceptionWith, frameWith } from '../support/development.ts'

const list = { name: 'news/list', url: '/news/list', methods: null }

describe('developmentFacts()', () => {
  it('has what the page shows', () => {
    const exception = exceptionWith({ frames: [frameWith({})], otherFrames: ['next'] })
    const report = { params: { dsh: 'token(34)' } }
    const facts = developmentFacts(
      detailsWith({ report, exception, routes: [list], nearest: list }),
    )
    assert.deepEqual(facts, {
      type: 'EXCEPTION_OTHER',
      ...exception,
      request: {
        method: 'GET',
        module: 'default',
        controller: 'nwes',
        action: 'list',
        params: { dsh: 'token(34)' },
      },
      nearest: list,
      routes: [list],
      omittedRoutes: 0,
    })
  })

  it('has values, and the hint about a sign-in, only if there are any', () => {
    const report = { looksLike: 'callback', hint: 'Register a controller' } as const
    const values = [['__proto__', 'S1']] as const
    const facts = JSON.parse(JSON.stringify(developmentFacts(detailsWith({ report, values }))))
    assert.deepEqual(Object.entries(facts.request.values), [['__proto__', 'S1']])
    assert.deepEqual([facts.looksLike, facts.hint, facts.nearest], ['callback', report.hint, null])
  })
})

describe('developmentLines()', () => {
  it('lists the exception, its frames and its causes', () => {
    const exception = exceptionWith({
      frames: [frameWith({})],
      otherFrames: ['next (loop.js:1:2)'],
      previous: exceptionWith({ name: 'RangeError', message: 'cause' }),
      errors: [exceptionWith({ message: 'one' })],
    })
    assert.deepEqual(developmentLines(detailsWith({ exception, nearest: list })), [
      'Did you mean /news/list?',
      'Error: boom',
      '    at view (news.js:1:3)',
      '    at next (loop.js:1:2)',
      'Caused by RangeError: cause',
      'One of Error: one',
    ])
  })
})
