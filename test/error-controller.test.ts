import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorController, failsafe } from '../lib/error-controller.ts'
import { toErrorRequest } from '../lib/error-handler.ts'
import { HttpError, NoActionError, NoControllerError } from '../lib/errors.ts'
import { HttpRequest } from '../lib/request.ts'
import { HttpResponse } from '../lib/response.ts'

const always = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

describe('errorController.error()', () => {
  it("answers with the exception's status", () => {
    const table: [Error, number][] = [
      [new NoControllerError('signin'), 404],
      [new NoActionError('v2'), 404],
      [new HttpError(403, 'x'), 403],
      [new HttpError(503, 'x'), 503],
      [new HttpError(599, 'x'), 599],
      [new Error('x'), 500],
      [Object.assign(new Error('x'), { status: 200 }), 500],
    ]
    for (const accept of ['text/html', 'application/problem+json']) {
      for (const [exception, status] of table) {
        assert.equal(answer(exception, accept).status, status)
      }
    }
    assert.equal(JSON.parse(String(answer(new HttpError(410, 'x')).body)).status, 410)
  })

  it('is not to be stored, referred from or sniffed', () => {
    for (const accept of ['text/html', 'application/json']) {
      const { headers } = answer(new Error('x'), accept)
      for (const [name, value] of Object.entries(always)) assert.equal(headers.get(name), value)
      assert.equal(headers.get('Vary'), 'Accept')
    }
  })

  it('is a page that loads nothing, or problem details', () => {
    const page = answer(new Error('x'), 'text/html')
    assert.equal(page.headers.get('Content-Type'), 'text/html; charset=utf-8')
    assert.equal(
      page.headers.get('Content-Security-Policy'),
      "default-src 'none'; style-src 'unsafe-inline'",
    )
    assert.match(String(page.body), /^<!doctype html>/i)

    const problem = answer(new Error('x'), 'application/problem+json')
    assert.equal(problem.headers.get('Content-Type'), 'application/problem+json')
    assert.equal(JSON.parse(String(problem.body)).title, 'Internal Server Error')
  })

  it('carries the headers that the exception asks for', () => {
    const busy = new HttpError(503, 'x', { headers: { 'Retry-After': '9' } })
    assert.equal(answer(busy).headers.get('Retry-After'), '9')
    assert.equal(answer(busy, 'text/html').headers.get('Retry-After'), '9')
  })

  it('tells the message of a 4xx, and of a 5xx one sentence for all', () => {
    const detail = (exception: Error): string => JSON.parse(String(answer(exception).body)).detail
    assert.equal(detail(new NoControllerError('a')), 'Invalid controller specified (a)')
    assert.equal(detail(new HttpError(403, 'Only editors')), 'Only editors')

    const fixed = detail(new Error('db.internal:5432 refused'))
    assert.doesNotMatch(fixed, /5432/)
    assert.equal(detail(new HttpError(503, 'db.internal:5432 is down')), fixed)
    for (const exception of [new Error('secret'), new HttpError(500, 'secret')]) {
      for (const accept of ['text/html', 'text/plain', '*/*']) {
        assert.doesNotMatch(String(answer(exception, accept).body), /secret/)
      }
    }
  })

  it('escapes what comes from the request for the medium', () => {
    const exception = new NoControllerError(`<script>"&'`)
    const page = String(answer(exception, 'text/html').body)
    assert.ok(page.includes('Invalid controller specified (&lt;script&gt;&quot;&amp;&#39;)'))
    assert.doesNotMatch(page, /<script/)
    const { detail } = JSON.parse(String(answer(exception).body))
    assert.equal(detail, exception.message)
  })

  it('cuts it at 200 characters, and never echoes the query string', () => {
    for (const accept of ['text/html', 'application/json']) {
      const body = String(answer(new NoControllerError('x'.repeat(9_000)), accept).body)
      const [run = ''] = body.match(/x{20,}/) ?? []
      assert.ok(run.length > 100 && run.length <= 200, `${run.length}`)
      assert.doesNotMatch(body, /SECRET|dsh/)
    }
  })

  it('is a 500 where there is no exception', () => {
    const response = new HttpResponse()
    errorController.error(new HttpRequest({ target: '/' }), response)
    assert.equal(response.status, 500)
  })
})

describe('failsafe()', () => {
  it('is a fixed plain 500 that nobody stores', () => {
    const response = new HttpResponse()
    assert.equal(failsafe(response), response)
    assert.equal(response.status, 500)
    assert.equal(typeof response.body, 'string')
    assert.deepEqual(Object.fromEntries(response.headers), {
      ...always,
      'Content-Type': 'text/plain; charset=utf-8',
    })
  })
})

function answer(exception: Error, accept?: string): HttpResponse {
  const original = new HttpRequest({ target: '/signin?dsh=SECRET', headers: { accept } })
  const response = new HttpResponse([exception])
  errorController.error(toErrorRequest(original, exception), response)
  return response
}
