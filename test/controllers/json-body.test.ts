import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { type JsonOptions, readJson } from '../../lib/controllers/json-body.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { createRequestListener } from '../../lib/server/request-listener.ts'
import { createFront } from '../support/front.ts'
import { exchange, listening } from '../support/http.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

describe('readJson()', () => {
  it('reads application/json, and types that end in +json', async () => {
    const types = [
      'application/json',
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      'application/problem+json',
      'application/vnd.api+json ; v=1',
    ]
    for (const type of types)
      assert.deepEqual(await read('{"id":1}', { 'content-type': type }), { id: 1 })
    assert.equal(await read('\ufeff"ü"', JSON_TYPE), 'ü')
  })

  it('throws a 415 for any other type, and for a compressed body', async () => {
    const table: Record<string, string>[] = [
      {},
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/jsonp' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'text/plain; x=application/json' },
      { 'content-type': '+json' },
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
    ]
    for (const headers of table) await assert.rejects(read('{}', headers), { status: 415 })
    assert.deepEqual(await read('{}', { ...JSON_TYPE, 'content-encoding': 'Identity' }), {})
  })

  it('throws a 400 for invalid JSON, without text of the body', async () => {
    for (const text of ['', '{"code":"4/0AfJohXkq9"', 'SECRET', '[1,]']) {
      await assert.rejects(read(text, JSON_TYPE), (error: Error) => {
        assert.deepEqual({ ...error }, { status: 400, code: 400, headers: {} })
        assert.equal(error.message, 'The body is not valid JSON')
        assert.equal(error.cause, undefined)
        return true
      })
    }
    await assert.rejects(read(Buffer.from([0x22, 0xff, 0x22]), JSON_TYPE), { status: 400 })
  })

  it('throws a 413 past its limit, declared or not', async () => {
    assert.deepEqual(await read('[1,2]', JSON_TYPE, { maxBytes: 5 }), [1, 2])
    const tooLarge = { status: 413, message: 'The body is larger than 4 bytes' }
    await assert.rejects(read('[1,2]', JSON_TYPE, { maxBytes: 4 }), tooLarge)
    const declared = { ...JSON_TYPE, 'content-length': '5' }
    await assert.rejects(read('[1]', declared, { maxBytes: 4 }), tooLarge)
  })

  it('reads a body once, also one in memory', async () => {
    for (const body of ['[1]', Buffer.from('[1]'), Readable.from([Buffer.from('[1]')])]) {
      const request = new HttpRequest({ target: '/', headers: JSON_TYPE, body })
      assert.equal(request.body, request.body)
      assert.deepEqual(await readJson(request), [1])
      await assert.rejects(readJson(request), {
        status: 500,
        message: 'The body has already been read: keep the result of the first read',
      })
    }
  })

  it('rejects a body that the application has begun to read', async () => {
    const body = Readable.from(['[1', ',2]'], { objectMode: false })
    const request = new HttpRequest({ target: '/', headers: JSON_TYPE, body })
    request.body.once('data', () => request.body.pause())
    await once(request.body, 'data')
    await assert.rejects(readJson(request), /already been read/)
  })

  it('respects the limit of the front controller, over a socket', async (t) => {
    const echo = {
      async index(request: HttpRequest, response: { json(value: unknown): void }) {
        response.json(await readJson(request, { maxBytes: 1_000 }))
      },
    }
    const front = createFront({ echo }, { limits: { maxBodyBytes: 10 } })
    const port = await listening(t, createServer(createRequestListener(front)))
    const post = (body: string) =>
      exchange(port, {
        method: 'POST',
        target: '/echo',
        headers: [['Content-Type', 'application/json']],
        body,
      })
    assert.equal((await post('{"id":1}')).body, '{"id":1}')
    assert.equal((await post('{"id":12345}')).status, 413)
    assert.equal((await post('{"id":')).status, 400)
  })
})

describe('the values of a JSON body', () => {
  const SECRET = 'c4n4ry-Token'
  const PIN = 493817

  // Returns the message of the report of an action that reads a JSON body, changes it, and throws.
  async function reported(
    body: unknown,
    change: (json: Record<string, unknown>) => void,
  ): Promise<string | undefined> {
    const messages: string[] = []
    const save = async (request: HttpRequest): Promise<void> => {
      change((await readJson(request)) as Record<string, unknown>)
      throw new Error(`no ${SECRET} and ${PIN}`)
    }
    const front = createFront(
      { tree: { save } },
      { onReport: ({ message }) => messages.push(message) },
    )
    const headers = { 'content-type': 'application/json' }
    const text = `\ufeff${JSON.stringify(body)}`
    const init = { method: 'POST', target: '/tree/save', headers, body: text }
    const { status } = await front.handle(new HttpRequest(init))
    assert.equal(status, 500)
    return messages[0]
  }

  it('are those that were sent, whatever the action does to the object', async () => {
    const changes: Record<string, (json: Record<string, unknown>) => void> = {
      nothing: () => {},
      deletion: (json) => delete json.code,
      'another value': (json) => {
        json.code = '****'
        json.pin = 0
      },
      'a value without its text': (json) => {
        json.code = Symbol('code')
      },
      'a getter that throws': (json) => {
        Object.defineProperty(json, 'lazy', {
          enumerable: true,
          get() {
            throw new Error('not loaded')
          },
        })
      },
    }
    for (const [name, change] of Object.entries(changes)) {
      const message = await reported({ code: SECRET, pin: PIN }, change)
      assert.equal(message, 'no [code] and [pin]', name)
    }
  })

  it('do not hang the process if the action links the object to itself', async () => {
    const message = await reported({ children: [{}], code: SECRET, pin: PIN }, (json) => {
      for (const child of json.children as { parent?: unknown }[]) child.parent = json
    })
    assert.equal(message, 'no [code] and [pin]')
  })

  it('are not searched for in a body of more than 64 KiB', async () => {
    const rows = Array.from({ length: 20_000 }, () => [1])
    assert.equal(await reported({ rows, code: SECRET }, () => {}), '[list(4)]')
  })
})

function read(
  body: string | Uint8Array,
  headers: Record<string, string>,
  options?: JsonOptions,
): Promise<unknown> {
  return readJson(new HttpRequest({ target: '/', method: 'POST', headers, body }), options)
}
