import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import { describe, it } from 'node:test'
import { createErrorController, failsafe } from '../../lib/controllers/error-controller.ts'
import { visitorText } from '../../lib/controllers/visitor-text.ts'
import { toErrorRequest } from '../../lib/dispatch/error-request.ts'
import { HttpError, NoActionError, NoControllerError, NoRouteError } from '../../lib/http/errors.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { HttpResponse, responseLifecycle } from '../../lib/http/response.ts'
import { detailsWith } from '../support/development.ts'

const always = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

describe('createErrorController().error()', () => {
  it("responds with the exception's status", () => {
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
        assert.equal(respond(exception, accept).status, status)
      }
    }
    assert.equal(JSON.parse(String(respond(new HttpError(410, 'x')).body)).status, 410)
  })

  it('is not to be stored, referred from or sniffed', () => {
    for (const accept of ['text/html', 'application/json']) {
      const { headers } = respond(new Error('x'), accept)
      for (const [name, value] of Object.entries(always)) assert.equal(headers.get(name), value)
      assert.equal(headers.get('Vary'), 'Accept')
    }
  })

  it('is a page that loads nothing, or problem details', () => {
    const page = respond(new Error('x'), 'text/html')
    assert.equal(page.headers.get('Content-Type'), 'text/html; charset=utf-8')
    assert.equal(
      page.headers.get('Content-Security-Policy'),
      "default-src 'none'; style-src 'unsafe-inline'",
    )
    assert.match(String(page.body), /^<!doctype html>/i)

    const problem = respond(new Error('x'), 'application/problem+json')
    assert.equal(problem.headers.get('Content-Type'), 'application/problem+json')
    assert.equal(JSON.parse(String(problem.body)).title, 'Internal Server Error')
  })

  it('has the headers of the exception', () => {
    const busy = new HttpError(503, 'x', { headers: { 'Retry-After': '9' } })
    assert.equal(respond(busy).headers.get('Retry-After'), '9')
    assert.equal(respond(busy, 'text/html').headers.get('Retry-After'), '9')
  })

  it('shows the message of a 4xx, and a fixed sentence for a 5xx', () => {
    const detail = (exception: Error): string => JSON.parse(String(respond(exception).body)).detail
    assert.equal(detail(new NoControllerError('a')), 'Invalid controller specified (a)')
    assert.equal(detail(new HttpError(403, 'Only editors')), 'Only editors')

    const fixed = detail(new Error('db.internal:5432 refused'))
    assert.doesNotMatch(fixed, /5432/)
    assert.equal(detail(new HttpError(503, 'db.internal:5432 is down')), fixed)
    for (const exception of [new Error('secret'), new HttpError(500, 'secret')]) {
      for (const accept of ['text/html', 'text/plain', '*/*']) {
        assert.doesNotMatch(String(respond(exception, accept).body), /secret/)
      }
    }
  })

  it('escapes what comes from the request for the medium', () => {
    const exception = new NoControllerError(`<script>"&'`)
    const page = String(respond(exception, 'text/html').body)
    assert.ok(page.includes('Invalid controller specified (&lt;script&gt;&quot;&amp;&#39;)'))
    assert.doesNotMatch(page, /<script/)
    const { detail } = JSON.parse(String(respond(exception).body))
    assert.equal(detail, exception.message)
  })

  it('cuts the message at 200 characters, and never echoes the query string', () => {
    for (const accept of ['text/html', 'application/json']) {
      const body = String(respond(new NoControllerError('x'.repeat(9_000)), accept).body)
      const [run = ''] = body.match(/x{20,}/) ?? []
      assert.ok(run.length > 100 && run.length <= 200, `${run.length}`)
      assert.doesNotMatch(body, /SECRET|dsh/)
    }
  })

  it('responds in the media type that Accept asks for, to every status and method', () => {
    const types = {
      page: 'text/html; charset=utf-8',
      problem: 'application/problem+json',
      text: 'text/plain; charset=utf-8',
    }
    const accepts: [string | undefined, keyof typeof types][] = [
      ['text/html', 'page'],
      ['text/html,application/xhtml+xml,*/*;q=0.8', 'page'],
      ['application/problem+json', 'problem'],
      ['application/json', 'problem'],
      ['*/*', 'problem'],
      [undefined, 'problem'],
      ['', 'problem'],
      ['nonsense', 'problem'],
      ['image/png', 'problem'],
      ['text/html;q=0', 'problem'],
      ['text/plain', 'text'],
      ['text/html;q=0, text/*;q=0.1', 'text'],
    ]
    for (const [accept, kind] of accepts) {
      for (const status of [400, 404, 405, 413, 415, 500, 503, 599]) {
        const title = STATUS_CODES[status] ?? 'Error'
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
          const request = new HttpRequest({ target: '/x', method, headers: { accept } })
          const exception = new HttpError(status, 'Told <why>')
          const response = responseLifecycle.reset(new HttpResponse(), exception)
          createErrorController().error(toErrorRequest(request, exception, request.id), response)
          const { headers, body } = response
          assert.deepEqual([response.status, headers.get('Content-Type')], [status, types[kind]])
          const detail = status < 500 ? 'Told <why>' : 'The server failed to answer this request.'
          if (kind === 'problem') {
            assert.deepEqual(JSON.parse(String(body)), {
              type: 'about:blank',
              title,
              status,
              detail,
              instance: `urn:uuid:${request.id}`,
            })
          } else if (kind === 'text') {
            assert.equal(body, `${status} ${title}\n${detail}\nurn:uuid:${request.id}\n`)
          } else {
            const escaped = detail.replace('<why>', '&lt;why&gt;')
            assert.ok(String(body).includes(`<p>${escaped}</p>`))
            assert.ok(String(body).includes(`<h1>${visitorText(status)[0]}</h1>`))
            assert.ok(String(body).includes(`Error ${status} &middot; ${title}`))
            assert.ok(String(body).includes(`<code>${request.id}</code>`))
          }
          assert.equal(
            headers.get('Content-Security-Policy'),
            kind === 'page' ? "default-src 'none'; style-src 'unsafe-inline'" : undefined,
          )
        }
      }
    }
  })

  it('shows no id that the log does not have', () => {
    const exception = new HttpError(403, 'x')
    assert.deepEqual(JSON.parse(String(respond(exception).body)), {
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail: 'x',
    })
    assert.equal(respond(exception, 'text/plain').body, '403 Forbidden\nx\n')
    assert.doesNotMatch(String(respond(exception, 'text/html').body), /quote this number/)
  })

  it('keeps its own headers, whatever headers an exception has', () => {
    const headers = { 'Cache-Control': 'public', 'X-Own': '1', Vary: 'Cookie' }
    const response = respond(new HttpError(403, 'x', { headers }))
    assert.deepEqual(
      ['Cache-Control', 'X-Own', 'Vary'].map((name) => response.headers.get(name)),
      ['no-store', '1', 'Accept'],
    )
  })

  it('cuts no character in two, and escapes invisible ones', () => {
    const detail = (message: string): string =>
      JSON.parse(String(respond(new HttpError(403, message)).body)).detail
    assert.equal(detail(`${'x'.repeat(199)}🎉`), `${'x'.repeat(199)}\ufffd`)
    assert.equal(detail('a\n\u202eb'), 'a\\u000a\\u202eb')
  })

  it('scrubs the values of the request from the message', () => {
    for (const accept of ['text/html', 'text/plain', 'application/json']) {
      const body = String(respond(new HttpError(403, 'dsh SECRET is wrong'), accept).body)
      assert.doesNotMatch(body, /SECRET/)
      assert.ok(body.includes('dsh [dsh] is wrong'), body)
    }
  })

  it('shows details of the original request in development, in every media type', () => {
    const calls: unknown[][] = []
    const exception = new NoRouteError()
    const nearest = { name: 'news/list', url: '/near', methods: null }
    const controller = createErrorController((...given) => {
      calls.push(given)
      return detailsWith({ nearest })
    })
    const bodies = ['text/html', 'application/json', 'text/plain'].map((accept) => {
      const original = new HttpRequest({ target: '/x', headers: { accept } })
      const response = responseLifecycle.reset(new HttpResponse(), exception)
      controller.error(toErrorRequest(original, exception), response)
      assert.deepEqual(calls.pop(), [original, exception])
      assert.equal(response.status, 404)
      return String(response.body)
    })
    const [html = '', json = '', text = ''] = bodies
    assert.match(html, /<h1>boom<\/h1>.*<a href="\/near">/s)
    const { status, detail, development } = JSON.parse(json)
    assert.deepEqual([status, detail], [404, 'No route matched the request'])
    assert.deepEqual([development.message, development.nearest], ['boom', nearest])
    assert.match(text, /^404 Not Found\n.*\n\nDid you mean \/near\?\nError: boom\n$/s)
  })

  it('shows no details in production', () => {
    for (const accept of ['text/html', 'application/json', 'text/plain']) {
      assert.doesNotMatch(String(respond(new Error('x'), accept).body), /development|Error: x/)
    }
  })

  it('throws if there is no exception', () => {
    const response = new HttpResponse()
    assert.throws(() => createErrorController().error(new HttpRequest({ target: '/' }), response), {
      name: 'TypeError',
      message: 'Expected a request that failed',
    })
    assert.deepEqual([response.status, response.body, response.headers.size], [200, undefined, 0])
  })
})

describe('failsafe()', () => {
  it('is a fixed plain 500 that is not cached', () => {
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

function respond(exception: Error, accept?: string): HttpResponse {
  const original = new HttpRequest({ target: '/signin?dsh=SECRET', headers: { accept } })
  const response = responseLifecycle.reset(new HttpResponse(), exception)
  createErrorController().error(toErrorRequest(original, exception), response)
  return response
}
