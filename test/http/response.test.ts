import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
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

  it('accepts statuses from 200 to 599 only', () => {
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
        {
          name: 'RangeError',
          message: `Expected a status from 200 to 599, got the ${typeof status} "${status}"`,
        },
      )
    }
    assert.equal(response.status, 200)
  })

  it('accepts text, bytes, a stream or nothing as its body', () => {
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

  it('always sets the type together with the content', () => {
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

  it('sends every value that has a JSON form as JSON', () => {
    const response = new HttpResponse()
    for (const value of [null, 0, '', false, []]) {
      response.json(value)
      assert.equal(response.body, JSON.stringify(value))
    }
  })

  it('throws for a value without a JSON form, and stays unchanged', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    const response = new HttpResponse()
    for (const value of [undefined, () => 1, Symbol('s'), 1n, cycle, Promise.resolve(1)]) {
      assert.throws(() => response.json(value), TypeError)
    }
    assert.throws(() => response.json(undefined), { message: 'A undefined has no JSON form' })
    assert.deepEqual(facts(response), pristine)
  })

  it('throws for a page or a text that is none, and stays unchanged', () => {
    const response = new HttpResponse()
    for (const fill of [
      () => response.text(undefined as unknown as string),
      () => response.html(undefined as unknown as string),
      () => response.html(null as unknown as string),
    ]) {
      assert.throws(fill, {
        name: 'TypeError',
        message: /^Expected a text, got (?:undefined|object)$/,
      })
    }
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

  it('sends no body that is set afterwards, and destroys a stream', () => {
    const response = new HttpResponse()
    const stream = new PassThrough()
    response.redirect('/login').html('<p>secret')
    response.body = stream
    assert.deepEqual([response.body, stream.destroyed], [undefined, true])
    assert.equal(response.headers.has('Content-Type'), false)
    response.status = 200
    assert.equal(response.text('a page after all').body, 'a page after all')
    response.redirect('/login')
    assert.equal(response.body, 'a page after all')
  })

  it('rejects a status that is not a redirect, and stays unchanged', () => {
    const response = new HttpResponse()
    for (const status of [200, 300, 304, 305, 309, 404, Number.NaN]) {
      assert.throws(() => response.redirect('/', status), {
        name: 'RangeError',
        message: `Expected 301, 302, 303, 307 or 308, got "${status}"`,
      })
    }
    assert.deepEqual(facts(response), pristine)
  })

  it('percent-encodes what a header cannot hold, and nothing twice', () => {
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

describe('HttpResponse.vary()', () => {
  const vary = (...names: string[]): string | undefined => {
    const response = new HttpResponse()
    for (const name of names) assert.equal(response.vary(name), response)
    return response.headers.get('Vary')
  }

  it('adds each name once, in any case', () => {
    assert.equal(vary('Accept'), 'Accept')
    assert.equal(vary('Accept', 'Cookie', 'accept', 'COOKIE'), 'Accept, Cookie')
  })

  it('keeps the names that are set otherwise', () => {
    const response = new HttpResponse()
    response.headers.append('Vary', 'Origin,Cookie').append('Vary', 'Accept')
    assert.equal(response.vary('cookie').headers.get('Vary'), 'Origin,Cookie, Accept')
    assert.equal(response.vary('Range').headers.get('Vary'), 'Origin,Cookie, Accept, Range')
  })

  it('adds nothing to *, which means everything', () => {
    assert.equal(vary('*', 'Accept'), '*')
  })

  it('rejects what is not the name of one header', () => {
    for (const name of ['', 'Accept, Cookie', 'a b', 'é', undefined, 1]) {
      assert.throws(() => vary('Accept', name as string), TypeError)
      assert.throws(() => vary('*', name as string), TypeError)
    }
  })
})

describe('responseLifecycle.reset()', () => {
  it('returns an empty response that holds the exception and all earlier ones', () => {
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

  it('ignores what the failed action writes afterwards', () => {
    const response = new HttpResponse()
    const reset = responseLifecycle.reset(response, new Error())
    response.status = 201
    response.headers.set('Set-Cookie', 'a=1')
    response.text('late')
    assert.deepEqual(facts(reset).slice(0, 4), pristine.slice(0, 4))
  })

  it('destroys a stream', async () => {
    const body = Readable.from(['a'])
    const response = new HttpResponse()
    response.body = body
    responseLifecycle.reset(response, new Error())
    assert.equal(body.destroyed, true)
    await once(body, 'close')
  })
})

describe('HttpResponse.body', () => {
  it('does not end the process if it fails before it is read', async () => {
    const body = new Readable({ read() {} })
    new HttpResponse().body = body
    assert.equal(body.listenerCount('error'), 1)
    await closed(body.destroy(new Error('no such file')))
  })

  it('destroys a stream that another body replaces, but not when it is set again', () => {
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

describe('responseLifecycle.seal()', () => {
  it('keeps the body, and destroys one that is set later', async () => {
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

  it('does not destroy the body when it is set again', () => {
    const sent = new Readable({ read() {} })
    const response = new HttpResponse()
    response.body = sent
    responseLifecycle.seal(response)
    response.body = sent
    assert.equal(sent.destroyed, false)
  })
})

describe('responseLifecycle.discard()', () => {
  it('destroys a body that is set later, and handles its errors', async () => {
    const response = new HttpResponse()
    responseLifecycle.discard(response)
    const late = new Readable({ read() {}, destroy: (_, done) => done(new Error('late')) })
    response.body = late
    assert.equal(response.body, undefined)
    await closed(late)
    assert.equal(late.destroyed, true)
  })

  it('tolerates a stream whose destroy() throws', () => {
    const response = new HttpResponse()
    response.body = Object.assign(new Readable({ read() {} }), {
      destroy() {
        throw new Error('not me')
      },
    })
    assert.doesNotThrow(() => responseLifecycle.discard(response))
    assert.deepEqual(responseLifecycle.reset(response, new Error('x')).body, undefined)
  })

  it('destroys a stream, and handles its errors', async () => {
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

  it('ignores other bodies', () => {
    const response = new HttpResponse()
    response.text('a')
    responseLifecycle.discard(response)
    assert.equal(response.body, 'a')
  })
})

// Not once() of node:events: it rejects on the error.
function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve))
}
