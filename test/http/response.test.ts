import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { HttpResponse, type ResponseBody, responseLifecycle } from '../../lib/http/response.ts'

function facts({ status, body, headers, renderExceptions, exceptions }: HttpResponse): unknown[] {
  return [status, body, [...headers], renderExceptions, [...exceptions]]
}

const pristine = [200, undefined, [], false, []]

describe('HttpResponse', () => {
  it('begins with status 200, no body, no headers, no exceptions', () => {
    assert.deepEqual(facts(new HttpResponse()), pristine)
  })

  it('takes the statuses from 200 to 599 and no others', () => {
    const response = new HttpResponse()
    for (const status of [599, 204, 200]) {
      response.status = status
      assert.equal(response.status, status)
    }
    for (const status of [100, 199, 600, 200.5, Number.NaN, '200' as unknown as number]) {
      assert.throws(
        () => {
          response.status = status
        },
        { name: 'RangeError', message: `Expected a status from 200 to 599, got "${status}"` },
      )
    }
    assert.equal(response.status, 200)
  })

  it('takes text, bytes, a stream or nothing for a body', () => {
    const response = new HttpResponse()
    for (const body of [
      '',
      'text',
      Buffer.from('b'),
      new Uint8Array(1),
      Readable.from([]),
      undefined,
    ]) {
      response.body = body
      assert.equal(response.body, body)
    }
    for (const body of [null, 1, {}, [], true, new ArrayBuffer(1), () => '']) {
      assert.throws(
        () => {
          response.body = body as unknown as ResponseBody
        },
        {
          name: 'TypeError',
          message: 'Expected a body that is a string, bytes or a readable stream',
        },
      )
    }
    assert.equal(response.body, undefined)
  })

  it('sets the type with the content, always', () => {
    const response = new HttpResponse()
    const table: [() => void, string, string][] = [
      [() => response.html('<p>'), 'text/html; charset=utf-8', '<p>'],
      [() => response.text('<p>'), 'text/plain; charset=utf-8', '<p>'],
      [() => response.json({ a: [1, null] }), 'application/json', '{"a":[1,null]}'],
    ]
    for (const [fill, type, body] of table) {
      fill()
      assert.deepEqual([response.headers.get('Content-Type'), response.body], [type, body])
    }
    response.headers.set('Content-Type', 'application/feed+json')
    assert.deepEqual([response.headers.size, response.status], [1, 200])
  })

  it('answers with JSON of every value that has a JSON form', () => {
    const response = new HttpResponse()
    for (const value of [null, 0, '', false, []]) {
      response.json(value)
      assert.equal(response.body, JSON.stringify(value))
    }
  })

  it('throws where a value has none, and stays as it was', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    const response = new HttpResponse()
    for (const value of [undefined, () => 1, Symbol('s'), 1n, cycle]) {
      assert.throws(() => response.json(value), TypeError)
    }
    assert.throws(() => response.json(undefined), { message: 'A undefined has no JSON form' })
    assert.deepEqual(facts(response), pristine)
  })
})

describe('HttpResponse.redirect()', () => {
  it('sets status and Location', () => {
    for (const status of [undefined, 301, 302, 303, 307, 308]) {
      const response = new HttpResponse()
      response.redirect('/news?a=1#b', status)
      assert.equal(response.status, status ?? 302)
      assert.deepEqual([...response.headers], [['Location', '/news?a=1#b']])
    }
  })

  it('refuses a status that is no redirect, and stays as it was', () => {
    const response = new HttpResponse()
    for (const status of [200, 300, 304, 305, 309, 404, Number.NaN]) {
      assert.throws(() => response.redirect('/', status), {
        name: 'RangeError',
        message: `Expected 301, 302, 303, 307 or 308, got "${status}"`,
      })
    }
    assert.deepEqual(facts(response), pristine)
  })

  it('percent-encodes what cannot stand in a header, and nothing twice', () => {
    const table = [
      ['/a%20b?c=%26', '/a%20b?c=%26'],
      ['/a b\tc', '/a%20b%09c'],
      ['/é🎉', '/%C3%A9%F0%9F%8E%89'],
      ['/\r\nSet-Cookie: a=1', '/%0D%0ASet-Cookie:%20a=1'],
      ['/\0\x7f\x85', '/%00%7F%C2%85'],
      ['/\ud800', '/%EF%BF%BD'],
      ['https://host/ü?ü#ü', 'https://host/%C3%BC?%C3%BC#%C3%BC'],
    ] as const
    for (const [location, expected] of table) {
      const response = new HttpResponse()
      response.redirect(location)
      assert.equal(response.headers.get('Location'), expected)
    }
  })
})

describe('HttpResponse.reset()', () => {
  it('gives a pristine one that holds the exception, and all before it', () => {
    const [first, second] = [new Error('1'), new Error('2')]
    const response = new HttpResponse()
    response.redirect('/elsewhere')
    response.text('half a page')
    response.renderExceptions = true

    const reset = responseLifecycle.reset(response, first)
    assert.deepEqual(facts(reset), [200, undefined, [], false, [first]])
    assert.deepEqual([...responseLifecycle.reset(reset, second).exceptions], [first, second])
    assert.deepEqual([...response.exceptions], [])
    assert.equal(Object.isFrozen(reset.exceptions), true)
  })

  it('hears nothing of what the failed action still writes', () => {
    const response = new HttpResponse()
    const reset = responseLifecycle.reset(response, new Error())
    response.status = 201
    response.headers.set('Set-Cookie', 'a=1')
    response.text('late')
    assert.deepEqual(facts(reset).slice(0, 4), pristine.slice(0, 4))
  })

  it('lets go of a stream', async () => {
    const body = Readable.from(['a'])
    const response = new HttpResponse()
    response.body = body
    responseLifecycle.reset(response, new Error())
    assert.equal(body.destroyed, true)
    await once(body, 'close')
  })
})

describe('HttpResponse.body', () => {
  it('does not end the process where it fails before anybody reads it', async () => {
    const body = new Readable({ read() {} })
    new HttpResponse().body = body
    assert.equal(body.listenerCount('error'), 1)
    await closed(body.destroy(new Error('no such file')))
  })

  it('lets go of the stream whose place another body takes, and not of itself', () => {
    const [first, second] = [new Readable({ read() {} }), new Readable({ read() {} })]
    const response = new HttpResponse()
    response.body = first
    response.body = first
    assert.equal(first.destroyed, false)
    response.body = second
    assert.deepEqual([first.destroyed, second.destroyed], [true, false])
    response.text('x')
    assert.equal(second.destroyed, true)
  })
})

describe('responseLifecycle.seal(HttpResponse)', () => {
  it('keeps the body, and lets go of one that comes later', async () => {
    const [sent, late] = [new Readable({ read() {} }), new Readable({ read() {} })]
    const response = new HttpResponse()
    response.body = sent
    responseLifecycle.seal(response)
    assert.equal(sent.destroyed, false)
    response.body = late
    assert.deepEqual([sent.destroyed, late.destroyed], [false, true])
    assert.equal(response.body, sent)
    response.text('late')
    assert.equal(response.body, sent)
    await closed(late)
  })

  it('leaves alone the body that was set already', () => {
    const sent = new Readable({ read() {} })
    const response = new HttpResponse()
    response.body = sent
    responseLifecycle.seal(response)
    response.body = sent
    assert.equal(sent.destroyed, false)
  })
})

describe('responseLifecycle.discard(HttpResponse)', () => {
  it('lets go of a body that comes later, and hears of its errors', async () => {
    const response = new HttpResponse()
    responseLifecycle.discard(response)
    const late = new Readable({ read() {}, destroy: (_, done) => done(new Error('late')) })
    response.body = late
    assert.equal(response.body, undefined)
    await closed(late)
    assert.equal(late.destroyed, true)
  })

  it('does not stumble over a stream that can not be destroyed', () => {
    const response = new HttpResponse()
    response.body = Object.assign(new Readable({ read() {} }), {
      destroy() {
        throw new Error('not me')
      },
    })
    assert.doesNotThrow(() => responseLifecycle.discard(response))
    assert.deepEqual(responseLifecycle.reset(response, new Error('x')).body, undefined)
  })

  it('destroys a stream, and hears of its errors', async () => {
    const body = new Readable({
      read() {},
      destroy: (_, done) => done(new Error('late')),
    })
    const response = new HttpResponse()
    response.body = body
    const failed = once(body, 'error')
    responseLifecycle.discard(response)
    await failed
    assert.equal(body.destroyed, true)
  })

  it('leaves other bodies alone', () => {
    const response = new HttpResponse()
    response.text('a')
    responseLifecycle.discard(response)
    assert.equal(response.body, 'a')
  })
})

// By hand: once() would take the error for its own.
function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve))
}
