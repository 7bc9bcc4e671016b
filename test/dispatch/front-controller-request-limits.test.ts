import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type { HttpRequest, HttpRequestInit, HttpResponse } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import { listening, parse, send } from '../support/http.ts'
import {
  expectDispatch,
  expectError,
  factsOf,
  namesOf,
  unreachable,
  urlEncoded,
} from '../support/loop.ts'
import { startServing } from '../support/serving.ts'

describe('FrontController.handle() past the limits of a request', () => {
  const post = { method: 'POST', headers: urlEncoded }

  it('rejects a form through error/error with the requested names', async () => {
    const limits = { maxBodyBytes: 20, maxFields: 3 }
    const type = 'application/x-www-form-urlencoded'
    const table: [Partial<HttpRequestInit>, number][] = [
      [{ body: `a=${'x'.repeat(19)}` }, 413],
      [{ body: Readable.from([Buffer.alloc(15), Buffer.alloc(15)], { objectMode: false }) }, 413],
      [{ headers: { ...urlEncoded, 'Content-Length': '21' }, body: '' }, 413],
      [{ body: 'a&b&c&d' }, 413],
      [{ headers: { 'content-type': `${type}; charset=iso-8859-1` }, body: 'a=1' }, 415],
      [{ headers: { ...urlEncoded, 'content-encoding': 'gzip' }, body: 'a=1' }, 415],
    ]
    for (const [init, status] of table) {
      const request = { ...post, target: '/news/list/id/1?b=2', ...init }
      const [run, response] = await expectError({ list: unreachable }, request, { limits })
      assert.equal(response.status, status)
      assert.deepEqual(factsOf(run).toSpliced(1, 1), ['EXCEPTION_OTHER', status])
      assert.deepEqual(namesOf(run.request), ['default', 'news', 'list'])
      assert.deepEqual([run.errorRequest.param('id'), run.errorRequest.param('b')], ['1', '2'])
    }
    for (const init of [
      { body: `a=${'x'.repeat(18)}` },
      { body: 'a&b&c' },
      { headers: { 'content-type': `${type}; charset="UTF-8"` }, body: 'a=1' },
      { headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(21) },
      { method: 'PUT', body: 'x'.repeat(21) },
    ]) {
      await expectDispatch({ ...post, target: '/news/list', ...init }, 'list', {}, { limits })
    }
  })

  it('rejects a body that the action sends on by fetch()', async (t) => {
    // Responds to a whole body only: the response could otherwise arrive before the error of the body.
    const upstream = createServer((message, response) => {
      message.resume().on('end', () => response.end('received'))
    })
    const url = `http://127.0.0.1:${await listening(t, upstream)}/`
    const sendOn = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
      const init = { method: 'POST', body: request.body, duplex: 'half' } as const
      response.text(await (await fetch(url, init)).text())
    }
    const chunks = (bytes: number): HttpRequestInit => ({
      ...post,
      headers: {},
      target: '/news/send-on',
      body: Readable.from([Buffer.alloc(bytes)], { objectMode: false }),
    })
    const options = { limits: { maxBodyBytes: 20 } }
    const [run, response] = await expectError({ sendOn }, chunks(21), options)
    assert.equal(response.status, 413)
    assert.deepEqual(factsOf(run), ['EXCEPTION_OTHER', 'The body is larger than 20 bytes', 413])
  })

  it('accepts at most 1,000 parameters, pairs and fields each', async () => {
    const many = (count: number, unit: string): string => unit.repeat(count)
    const table: [(count: number) => HttpRequestInit, number][] = [
      [(count) => ({ target: `/news/list?${many(count, '&a=1')}` }), 400],
      [(count) => ({ target: `/news/list${many(count, '/a/1')}` }), 400],
      [(count) => ({ ...post, target: '/news/list', body: many(count, '&a=1') }), 413],
    ]
    for (const [requestWith, status] of table) {
      const request = await expectDispatch(requestWith(1_000))
      const { length } = [...request.pairs, ...request.query, ...request.form]
      assert.equal(length, 1_000)
      const [run, response] = await expectError({ list: unreachable }, requestWith(1_001))
      assert.equal(response.status, status)
      assert.deepEqual(factsOf(run).toSpliced(1, 1), ['EXCEPTION_OTHER', status])
      assert.deepEqual(namesOf(run.request), ['default', 'news', 'list'])
    }
  })

  it('rejects a bad path, and still lets the error action read the form', async () => {
    for (const bad of ['%', '%zz', '%ff', '%c0%af', 'a%00', 'a%0a', '%1b', '%7F', '%c2%85']) {
      const request = { ...post, target: `/news/${bad}?a=query`, body: 'a=form&b=form' }
      const [run, response] = await expectError({}, request)
      assert.equal(response.status, 400, bad)
      assert.deepEqual(factsOf(run).toSpliced(1, 1), ['EXCEPTION_OTHER', 400])
      assert.deepEqual(namesOf(run.request), ['default', 'news', bad])
      for (const request of [run.errorRequest, run.request]) {
        assert.deepEqual([request.param('a'), request.param('b')], ['query', 'form'])
      }
    }
  })
})

describe('A request that the handler in front forwards', () => {
  it('gets the limits and the rejections of the front controller', async (t) => {
    const front = createFront(
      {
        api: {
          read: async ({ body }: HttpRequest, response: HttpResponse) =>
            response.text(await text(body)),
        },
      },
      { limits: { maxBodyBytes: 10, maxTargetBytes: 100, maxFields: 3 } },
    )
    const handle = (request: HttpRequest): Promise<HttpResponse> =>
      front.handle(request.forward({ controller: 'api', action: 'read' }))
    const { port } = await startServing(t, { handle })
    const statusOf = async (bytes: string): Promise<number> => parse(await send(port, bytes)).status
    const end = 'Connection: close\r\n'
    for (const [bytes, status] of [
      [`POST /m HTTP/1.1\r\nHost: a\r\n${end}Content-Length: 3\r\n\r\nabc`, 200],
      [`POST /m HTTP/1.1\r\nHost: a\r\n${end}Content-Length: 11\r\n\r\n${'a'.repeat(11)}`, 413],
      [`GET /m HTTP/1.1\r\nHost: a\r\nHost: b\r\n${end}\r\n`, 400],
      [`GET /${'m'.repeat(100)} HTTP/1.1\r\nHost: a\r\n${end}\r\n`, 414],
      [`GET /m?a&b&c&d HTTP/1.1\r\nHost: a\r\n${end}\r\n`, 400],
    ] as const)
      assert.equal(await statusOf(bytes), status, bytes)
    // The action of another front controller, with a larger limit, may forward it.
    const pass = Object.assign(
      async (request: HttpRequest, response: HttpResponse) =>
        response.text(`${(await handle(request)).status}`),
      { limits: { maxBodyBytes: 1_000 } },
    )
    const outer = await startServing(t, createFront({ app: { pass } }))
    const post = `POST /app/pass HTTP/1.1\r\nHost: a\r\n${end}Content-Length: 11\r\n\r\n${'a'.repeat(11)}`
    assert.equal(parse(await send(outer.port, post)).body, '413')
  })
})
