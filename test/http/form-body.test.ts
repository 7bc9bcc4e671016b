import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { hasFormBody, readFormBody } from '../../lib/http/form-body.ts'
import type { HttpRequestInit } from '../../lib/http/message.ts'
import { HttpRequest } from '../../lib/http/request.ts'

const FORM = 'application/x-www-form-urlencoded'
const limits = { maxBodyBytes: 20, maxFields: 3 }

function posted(body: HttpRequestInit['body'], headers: Record<string, string> = {}): HttpRequest {
  return new HttpRequest({
    method: 'POST',
    target: '/',
    headers: { 'Content-Type': FORM, ...headers },
    body,
  })
}

async function fields(request: HttpRequest): Promise<[string, string][]> {
  return [...(await readFormBody(request, limits)).fields]
}

const tooLarge = { name: 'HttpError', status: 413, message: 'The body is larger than 20 bytes' }
const unsupported = (message: string) => ({ name: 'HttpError', status: 415, message })

describe('hasFormBody()', () => {
  it('is true only for a POST of a urlencoded form', () => {
    const table: [string, string | undefined, boolean][] = [
      ['POST', FORM, true],
      ['POST', `${FORM}; charset=latin1`, true],
      ['POST', ` ${FORM.toUpperCase()} ;x`, true],
      ['POST', `${FORM} x`, true],
      ['POST', `${FORM}, text/plain`, true],
      ['POST', `${FORM}x`, false],
      ['POST', `text/plain; ${FORM}`, false],
      ['POST', 'multipart/form-data; boundary=x', false],
      ['POST', '', false],
      ['POST', undefined, false],
      ['PUT', FORM, false],
      ['GET', FORM, false],
      ['post', FORM, false],
    ]
    for (const [method, type, expected] of table) {
      const request = new HttpRequest({ method, target: '/', headers: { 'content-type': type } })
      assert.equal(hasFormBody(request), expected, `${method} ${type}`)
    }
  })
})

describe('readFormBody()', () => {
  it('reads the fields in the order sent', async () => {
    const form = 'a=1&b=%2B+&a=2'
    const expected = [
      ['a', '1'],
      ['b', '+ '],
      ['a', '2'],
    ]
    assert.deepEqual(await fields(posted(form)), expected)
    assert.deepEqual(await fields(posted(Buffer.from(form))), expected)
    const chunks = ['a=1&b=%', '2B+&a', '=2'].map(Buffer.from)
    assert.deepEqual(await fields(posted(Readable.from(chunks))), expected)
    assert.deepEqual(await fields(posted(undefined)), [])
  })

  it('reads a character that is split over two chunks', async () => {
    const bytes = Buffer.from('a=é')
    const halves = Readable.from([bytes.subarray(0, 3), bytes.subarray(3)])
    assert.deepEqual(await fields(posted(halves)), [['a', 'é']])
  })

  it('accepts a body at the limit, and rejects it one byte over', async () => {
    assert.deepEqual(await fields(posted('x'.repeat(20))), [['x'.repeat(20), '']])
    await assert.rejects(fields(posted('x'.repeat(21))), tooLarge)
  })

  it('rejects a chunked body at the first chunk past the limit', async (t) => {
    const body = new PassThrough()
    t.after(() => body.destroy())
    const read = fields(posted(body, { 'Transfer-Encoding': 'chunked' }))
    body.write('x'.repeat(20))
    body.write('x')
    await assert.rejects(read, tooLarge)
    assert.equal(body.writableEnded, false)
  })

  it('rejects a declared length past the limit without reading the body', async () => {
    const body = new Readable({ read: () => assert.fail('read') })
    await assert.rejects(fields(posted(body, { 'Content-Length': '21' })), tooLarge)
    assert.deepEqual(await fields(posted('a=1', { 'Content-Length': '20' })), [['a', '1']])
  })

  it('accepts as many fields as the limit, and no more', async () => {
    assert.equal((await fields(posted('a&b&&c&'))).length, 3)
    await assert.rejects(fields(posted('a&b&&c&d')), {
      name: 'HttpError',
      status: 413,
      message: 'The form has more than 3 fields',
    })
  })

  it('accepts UTF-8 in any spelling, and no other charset', async () => {
    const spellings = [
      'utf-8',
      'UTF-8',
      '"utf-8"',
      'utf8',
      ' utf-8 ; x=y',
      '',
      '""',
      'utf-8, text/plain',
    ]
    for (const charset of [...spellings, ';x="; charset=latin1"', '; x="\\"; charset=latin1"']) {
      const type = `${FORM};charset=${charset}`
      assert.deepEqual(await fields(posted('a=é', { 'Content-Type': type })), [['a', 'é']], type)
    }
    assert.deepEqual(await fields(posted('a', { 'Content-Type': `${FORM}; x=y` })), [['a', '']])
    for (const charset of ['latin1', 'ISO-8859-1', '"utf-16"', 'utf-7', 'utf-8x']) {
      await assert.rejects(
        fields(posted('a=1', { 'Content-Type': `${FORM} ; Charset = ${charset}` })),
        unsupported('A form body must be in UTF-8'),
        charset,
      )
    }
  })

  it('rejects a compressed body', async () => {
    for (const coding of ['gzip', 'br', 'GZIP', 'identity, gzip', 'x-unknown']) {
      await assert.rejects(
        fields(posted('a=1', { 'Content-Encoding': coding })),
        unsupported('A form body must not be compressed'),
        coding,
      )
    }
    for (const coding of ['Identity', '', ' identity ']) {
      assert.deepEqual(await fields(posted('a', { 'Content-Encoding': coding })), [['a', '']])
    }
  })

  it('throws a 415 rather than a 413', async () => {
    const headers = { 'Content-Encoding': 'gzip', 'Content-Length': '21' }
    await assert.rejects(fields(posted('', headers)), { status: 415 })
  })

  it('throws a 400 if the client leaves before the end', async () => {
    const body = new PassThrough()
    const read = fields(posted(body))
    body.write('a=')
    body.destroy()
    await assert.rejects(read, {
      name: 'ClientGoneError',
      status: 400,
      message: 'The client has gone away',
    })
  })
})
