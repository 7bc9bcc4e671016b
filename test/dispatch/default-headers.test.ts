import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest, type HttpResponse } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'

const HEADERS = {
  'Content-Security-Policy': "default-src 'self'",
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Answer': 42,
  Link: ['</a.css>; rel=preload', '</b.css>; rel=preload'],
}

describe('the option headers', () => {
  const front = createFront(
    {
      news: {
        list: (_: HttpRequest, response: HttpResponse) => response.text('news'),
        own: (_: HttpRequest, response: HttpResponse) =>
          void response.headers.set('strict-transport-security', 'max-age=0'),
        fail: () => {
          throw new Error('fails')
        },
      },
    },
    { headers: HEADERS },
  )
  const headersOf = async (target: string): Promise<HttpResponse['headers']> =>
    (await front.handle(new HttpRequest({ target }))).headers

  it('is on successes and errors alike', async () => {
    for (const target of ['/news/list', '/news/fail', '/missing', '/news/missing', '/%ff']) {
      const headers = await headersOf(target)
      assert.equal(headers.get('Strict-Transport-Security'), 'max-age=31536000', target)
      assert.equal(headers.get('X-Answer'), '42')
      assert.deepEqual(Object.fromEntries(headers).Link, HEADERS.Link)
    }
  })

  it('is overridden by what an action and the error page set', async () => {
    assert.equal((await headersOf('/news/own')).get('Strict-Transport-Security'), 'max-age=0')
    const accept = { accept: 'text/html' }
    const page = await front.handle(new HttpRequest({ target: '/missing', headers: accept }))
    assert.match(page.headers.get('Content-Security-Policy') ?? '', /^default-src 'none'/)
  })

  it('is on the bare 500 of an error action that fails', async () => {
    const error = {
      error() {
        throw new Error('fails too')
      },
    }
    const broken = createFront({ error }, { headers: HEADERS })
    const { headers, status } = await broken.handle(new HttpRequest({ target: '/missing' }))
    assert.deepEqual([status, headers.get('X-Answer')], [500, '42'])
  })

  it('is checked at construction', () => {
    const wrong: object[] = [
      { 'X A': '1' },
      { 'X-A': 'a\r\nb: c' },
      { 'X-A': undefined },
      { 'X-A': [] },
      { 'Transfer-Encoding': 'chunked' },
      { 'Content-Length': 5 },
    ]
    for (const headers of wrong) {
      const options = { headers } as { headers: Record<string, string> }
      assert.throws(() => createFront({}, options), TypeError, JSON.stringify(headers))
    }
  })
})

describe('Vary', () => {
  const actions = {
    html: (request: HttpRequest, response: HttpResponse) =>
      response.text(request.accepts(['text/html', 'text/plain']) ?? 'none'),
    own: (request: HttpRequest, response: HttpResponse) => {
      response.headers.set('Vary', 'Cookie')
      return response.text(String(request.accepts(['text/html'])))
    },
    both: (request: HttpRequest, response: HttpResponse) => {
      request.accepts(['text/html'])
      response.headers.set('Vary', 'cookie, ACCEPT')
    },
    all: (request: HttpRequest, response: HttpResponse) => {
      request.accepts(['text/html'])
      response.headers.set('Vary', '*')
    },
    forwarding: (request: HttpRequest) => {
      request.accepts(['text/html'])
      return request.forward({ action: 'none' })
    },
    none: (_: HttpRequest, response: HttpResponse) => response.text('none'),
  }

  it('has Accept if the application has asked for the preferred type', async () => {
    const front = createFront({ app: actions })
    const table: [action: string, vary: string | undefined][] = [
      ['html', 'Accept'],
      ['own', 'Cookie, Accept'],
      ['both', 'cookie, ACCEPT'],
      ['all', '*'],
      ['forwarding', 'Accept'],
      ['none', undefined],
    ]
    for (const [action, vary] of table) {
      const response = await front.handle(new HttpRequest({ target: `/app/${action}` }))
      assert.equal(response.headers.get('Vary'), vary, action)
    }
  })
})
