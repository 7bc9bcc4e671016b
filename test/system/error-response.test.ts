import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  type Action,
  HttpError,
  type HttpRequest,
  type HttpResponse,
  type Service,
  serve,
} from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import { exchange, type RawResponse } from '../support/http.ts'
import { portOf } from '../support/serving.ts'

const BROWSER =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,' +
  'application/signed-exchange;v=b3;q=0.7'

type Medium = 'html' | 'problem' | 'text'

// SPEC section 6.
const accepts: [accept: string | undefined, medium: Medium][] = [
  ['text/html', 'html'],
  [BROWSER, 'html'],
  ['TEXT/HTML', 'html'],
  ['text/html;level=1, application/json;q=0.9', 'html'],
  ['text/*;q=0.9, application/json;q=0.1', 'html'],
  // The most specific range counts, not the one with the greatest weight.
  ['text/*;q=0.1, text/html, application/json;q=0.5', 'html'],
  ['text/*, text/html;q=0.1, text/plain;q=0.2, application/json;q=0.5', 'problem'],
  ['application/problem+json', 'problem'],
  ['application/json', 'problem'],
  ['application/json, text/plain, */*', 'problem'],
  ['text/html;q=0.4, application/json;q=0.5', 'problem'],
  ['application/*', 'problem'],
  ['*/*', 'problem'],
  ['text/plain', 'text'],
  ['application/json;q=0.4, text/plain;q=0.5, text/html;q=0.1', 'text'],
  ['text/html;q=0, text/plain', 'text'],
  // Missing or malformed: the same as */*.
  [undefined, 'problem'],
  ['', 'problem'],
  ['text', 'problem'],
  ['text/html/x', 'problem'],
  ['text/html;q=2', 'problem'],
  [';,;q=,/', 'problem'],
  ['*/html', 'problem'],
  // No available medium is acceptable: the error gets a response nevertheless.
  ['image/png', 'problem'],
  ['text/html;q=0', 'problem'],
  ['*/*;q=0', 'problem'],
]

const FAULT = 'The server failed to answer this request.'
const internal = 'db.internal:5432 is down'

// The status of each action, the title of the status, and the detail.
const statuses: [status: number, title: string, action: string, detail: string][] = [
  [400, 'Bad Request', 'news/%ff', 'The path is not percent-encoded UTF-8'],
  [404, 'Not Found', 'signin/v2', 'Invalid controller specified (signin)'],
  [405, 'Method Not Allowed', 'fail/put', 'The method is not allowed here'],
  [413, 'Payload Too Large', 'fail/large', 'The body is larger than 10 bytes'],
  [415, 'Unsupported Media Type', 'fail/media', 'A form body must be in UTF-8'],
  [500, 'Internal Server Error', 'fail/fault', FAULT],
  [503, 'Service Unavailable', 'fail/busy', FAULT],
]

const fail: Record<string, Action> = {
  put: Object.assign(() => undefined, { methods: ['PUT'] }),
  large: raising(new HttpError(413, 'The body is larger than 10 bytes')),
  media: raising(new HttpError(415, 'A form body must be in UTF-8')),
  fault: raising(new Error(internal)),
  busy: raising(new HttpError(503, internal, { headers: { 'Retry-After': '9' } })),
  quote: (request: HttpRequest) => {
    throw new HttpError(400, `No ${request.param('what')}, not in ${'ü'.repeat(300)}`)
  },
  late: (_: HttpRequest, response: HttpResponse) => {
    response.status = 201
    response.headers.set('Set-Cookie', 'a=1').set('Cache-Control', 'max-age=9').set('ETag', '"1"')
    response.html('<p>half a page')
    throw new Error(internal)
  },
}

const types: Record<Medium, string> = {
  html: 'text/html; charset=utf-8',
  problem: 'application/problem+json',
  text: 'text/plain; charset=utf-8',
}

describe('The response to an error', () => {
  let service: Service
  let port = 0

  before(async () => {
    service = await serve(createFront({ fail }, { onReport() {} }), { port: 0 })
    port = portOf(service.url)
  })

  after(() => service.close())

  const request = (target: string, accept?: string, method = 'GET'): Promise<RawResponse> =>
    exchange(port, { method, target, headers: accept === undefined ? [] : [['Accept', accept]] })

  for (const [status, title, action, detail] of statuses) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      it(`has the medium of Accept: ${method} with ${status}`, async () => {
        for (const [accept, medium] of accepts) {
          const response = await request(`/${action}?dsh=SECRET`, accept, method)
          const what = `Accept: ${accept}`
          assert.equal(response.status, status, what)
          assertHeaders(response, medium, what)
          assert.equal(response.headers.allow, status === 405 ? 'PUT, OPTIONS' : undefined)
          assert.equal(response.headers['retry-after'], status === 503 ? '9' : undefined)
          const length = Buffer.byteLength(response.body, 'latin1')
          if (method === 'HEAD') {
            assert.equal(length, 0, what)
            assert.ok(Number(response.headers['content-length']) > 0, what)
          } else {
            assert.equal(response.headers['content-length'], String(length), what)
            assertBody(response.body, medium, { status, title, detail })
          }
        }
      })
    }
  }

  it('has the same headers for HEAD as for GET', async () => {
    for (const [accept] of accepts) {
      const [get, head] = [await request('/x', accept), await request('/x', accept, 'HEAD')]
      assert.deepEqual({ ...head.headers, date: '' }, { ...get.headers, date: '' })
    }
  })

  it('has a 413 and a 415 for a form, in each medium', async () => {
    const type = 'application/x-www-form-urlencoded'
    for (const [accept, medium] of [
      ['text/html', 'html'],
      ['*/*', 'problem'],
      ['text/plain', 'text'],
    ] as const) {
      const post = { method: 'POST', target: '/fail/large' }
      const large = await exchange(port, {
        ...post,
        headers: [
          ['Content-Type', type],
          ['Accept', accept],
        ],
        body: `a=${'x'.repeat(1_048_576)}`,
      })
      assert.deepEqual([large.status, large.headers.connection], [413, 'close'])
      assertHeaders(large, medium, '413')
      const media = await exchange(port, {
        ...post,
        headers: [
          ['Content-Type', `${type}; charset=utf-16`],
          ['Accept', accept],
        ],
        body: 'a=1',
      })
      assert.equal(media.status, 415)
      assertHeaders(media, medium, '415')
    }
  })

  it('has nothing that the failed action had set', async () => {
    for (const [accept, medium] of accepts) {
      const response = await request('/fail/late', accept)
      assert.equal(response.status, 500)
      assertHeaders(response, medium, `${accept}`)
      assert.deepEqual(
        [response.headers['set-cookie'], response.headers.etag],
        [undefined, undefined],
      )
      assert.doesNotMatch(withoutId(response.body), /half a page|5432/)
    }
  })

  it('has a detail of at most 200 characters', async () => {
    const long = 'a-'.repeat(300)
    for (const [target, start] of [
      [`/${long}`, 'Invalid controller specified (token(600))'],
      [`/fail/${long}`, 'Action "token(600)" does not exist'],
      ['/fail/quote?what=this-thing', `No [what], not in ${'ü'.repeat(300)}`],
    ] as const) {
      const { detail } = JSON.parse(utf8(await request(target)))
      assert.equal(detail, start.slice(0, 200))
      const [, , line] = /^(.*)\n(.*)\n/.exec(utf8(await request(target, 'text/plain'))) ?? []
      assert.equal(line, start.slice(0, 200))
      const page = utf8(await request(target, 'text/html'))
      assert.ok(page.includes(`<p>${escaped(start.slice(0, 200))}</p>`), page)
    }
  })

  it('has the shape of a name that does not look like one, and never contains the query string', async () => {
    const names = [
      '<script>alert(1)</script>',
      `"'><img/src=x onerror=alert(1)>`.replaceAll(' ', '%20'),
      '</title><svg/onload=alert(1)>',
      '&lt;b&gt;&amp;',
      '--><!--',
      '{{7*7}}*{7*7}',
      '"}],"x":"',
      '\\u003cb\\u003e',
    ]
    for (const name of names.map((each) => each.replaceAll('/', '%2F'))) {
      const target = `/${name}?<i>dsh=SECRET</i>`
      const page = utf8(await request(target, 'text/html'))
      assert.match(page, /Invalid controller specified \((?:token|text)\(\d+\)\)/, name)
      assert.doesNotMatch(page, /<script|<img|<svg|<i>|<b>|<!--|SECRET|dsh/)
      assert.equal(page.match(/<\/?title>/g)?.length, 2)
      const problem = utf8(await request(target))
      assert.match(JSON.parse(problem).detail, /^Invalid controller specified \(t\w+\(\d+\)\)$/)
      assert.doesNotMatch(problem, /SECRET|dsh|alert|svg/)
      assert.doesNotMatch(utf8(await request(target, 'text/plain')), /SECRET|dsh/)
    }
  })

  it('is a complete page of less than 4 KiB without external resources', async () => {
    const widest = [
      `/${'&'.repeat(300)}`,
      `/${"'".repeat(300)}`,
      '/fail/quote?what=x',
      '/fail/fault',
    ]
    for (const target of widest) {
      const { body } = await request(target, 'text/html')
      assert.ok(body.length < 4_096, `${body.length} bytes`)
      assert.match(body, /^<!doctype html><html lang="en"><meta charset="utf-8">/)
      assert.match(body, /<title>.+<\/title>.*<main>.*<h1>.+<\/h1>.*<\/main>/s)
      assert.match(body, /color-scheme:light dark/)
      assert.doesNotMatch(
        body,
        /<script|<link|<img|<iframe|<object|<form|\bsrc=|\bhref=|url\(|@import|\/\//,
      )
      assert.doesNotMatch(body.replace(/<p>.*?<\/p>/s, ''), /\son\w+=/)
    }
  })
})

interface Expected {
  readonly status: number
  readonly title: string
  readonly detail: string
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

function assertHeaders({ headers }: RawResponse, medium: Medium, what: string): void {
  const expected = {
    'content-type': types[medium],
    vary: 'Accept',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      medium === 'html' ? "default-src 'none'; style-src 'unsafe-inline'" : undefined,
  }
  const actual = Object.keys(expected).map((name) => [name, headers[name]])
  assert.deepEqual(Object.fromEntries(actual), expected, what)
  assert.match(headers['content-length'] ?? '', /^\d+$/, what)
}

function assertBody(body: string, medium: Medium, { status, title, detail }: Expected): void {
  if (medium === 'problem') {
    const { instance, ...problem } = JSON.parse(body)
    assert.deepEqual(problem, { type: 'about:blank', title, status, detail })
    assert.match(instance, new RegExp(`^urn:uuid:${UUID}$`))
  } else if (medium === 'text') {
    assert.match(body, new RegExp(`^${status} ${title}\n.*\nurn:uuid:${UUID}\n$`))
    assert.equal(body.split('\n')[1], detail)
  } else {
    assert.match(body, new RegExp(`<title>${status} ${title}</title>`))
    assert.ok(body.includes(`<p>${escaped(detail)}</p>`), body)
    assert.match(body, new RegExp(UUID))
  }
  assert.doesNotMatch(withoutId(body), /SECRET|dsh|5432/)
}

function raising(error: Error): Action {
  return () => {
    throw error
  }
}

function utf8({ body }: RawResponse): string {
  return Buffer.from(body, 'latin1').toString()
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }
  return text.replace(/[&<>"']/g, (each) => `&${entities[each] ?? '#39'};`)
}

// A UUID may contain any four digits.
function withoutId(body: string): string {
  return body.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '')
}
