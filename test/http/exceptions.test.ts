import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import {
  ClientGoneError,
  HttpError,
  NoControllerError,
  ServerClosingError,
  ThrownValueError,
} from '../../lib/http/errors.ts'
import {
  factsOf,
  headersOf,
  isClientGone,
  isInstance,
  read,
  toError,
} from '../../lib/http/exceptions.ts'
import { HttpRequest } from '../../lib/http/request.ts'

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('trap')
    },
  },
)
// Throws in every trap, because looking a trap up throws already.
const hostileProxy = (target: object): object => new Proxy(target, hostile)

// Has no getter for the stack: the engine reads the message when it makes the stack.
const throwing: PropertyDescriptor = {
  get() {
    throw new Error('getter')
  },
}
const throwingGetters = { message: throwing, code: throwing, cause: throwing, status: throwing }
const withThrowingGetters = Object.defineProperties({}, throwingGetters)

describe('toError()', () => {
  it('returns an Error itself, also a frozen one and one of another realm', () => {
    const errors = [
      new Error('x'),
      new HttpError(403, 'x'),
      Object.freeze(new Error('x')),
      new AggregateError([]),
      runInNewContext('new Error("x")'),
      Object.create(Error.prototype),
    ]
    for (const error of errors) assert.equal(toError(error), error)
  })

  it('returns the error of a body that fetch() could not send, and keeps every other wrapper', () => {
    const cause = new HttpError(413, 'The body is too large')
    assert.equal(toError(new TypeError('fetch failed', { cause })), cause)
    assert.equal(toError(new Error('Network Error', { cause })), cause)
    const wrappers = [
      new Error(cause.message, { cause }),
      new HttpError(403, 'No', { cause }),
      new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }),
    ]
    for (const wrapper of wrappers) assert.equal(toError(wrapper), wrapper)
  })

  it('wraps every other value, and keeps it', () => {
    const values = [
      null,
      undefined,
      'text',
      42,
      1n,
      true,
      Symbol('s'),
      () => {},
      {},
      Object.create(null),
      withThrowingGetters,
      hostileProxy({}),
      hostileProxy(new Error('x')),
      hostileProxy(() => {}),
    ]
    for (const value of values) {
      const error = toError(value)
      assert.ok(error instanceof ThrownValueError)
      assert.ok(Object.is(error.value, value))
      assert.equal(error.code, 0)
      assert.equal(error.cause, undefined)
      assert.notEqual(error.message, '')
    }
  })

  it('takes message and code from the value if it has them', () => {
    const facts = (value: unknown): unknown => {
      const { message, code } = toError(value) as ThrownValueError
      return [message, code]
    }
    assert.deepEqual(facts('out of paper'), ['out of paper', 0])
    assert.deepEqual(facts({ message: 'no', code: 'E_NO' }), ['no', 'E_NO'])
    assert.deepEqual(facts({ message: 'no', code: 7 }), ['no', 7])
    assert.deepEqual(facts({ message: 'no', code: {} }), ['no', 0])
  })

  it('never calls toString() of a value', () => {
    const value = {
      message: 1,
      toString() {
        throw new Error('toString')
      },
    }
    assert.equal(typeof toError(value).message, 'string')
  })
})

describe('factsOf()', () => {
  it('returns the facts that SPEC section 5 requires for each kind', () => {
    const table: [Error, ReturnType<typeof factsOf>][] = [
      [
        new NoControllerError('signin'),
        {
          type: 'EXCEPTION_NO_CONTROLLER',
          status: 404,
          code: 0,
          message: 'Invalid controller specified (signin)',
        },
      ],
      [
        new HttpError(415, 'not that'),
        { type: 'EXCEPTION_OTHER', status: 415, code: 415, message: 'not that' },
      ],
      [new Error('x'), { type: 'EXCEPTION_OTHER', status: 500, code: 0, message: 'x' }],
      [
        Object.assign(new Error('x'), { code: 'ENOENT', status: 404 }),
        { type: 'EXCEPTION_OTHER', status: 500, code: 'ENOENT', message: 'x' },
      ],
      [
        Object.assign(new Error('x'), { code: {}, message: 3 }),
        { type: 'EXCEPTION_OTHER', status: 500, code: 0, message: '' },
      ],
      [
        Object.defineProperties(new Error('x'), throwingGetters),
        { type: 'EXCEPTION_OTHER', status: 500, code: 0, message: '' },
      ],
      // An HttpError whose properties were replaced counts as any other exception.
      [
        Object.defineProperties(new HttpError(418, 'x'), { ...throwingGetters, type: throwing }),
        { type: 'EXCEPTION_OTHER', status: 500, code: 0, message: '' },
      ],
      ...[200, 399, 600, 404.5, '404', null].map((status): [Error, ReturnType<typeof factsOf>] => [
        Object.assign(new HttpError(418, 'x'), { status, type: 'EXCEPTION_NONE' }),
        { type: 'EXCEPTION_OTHER', status: 500, code: 418, message: 'x' },
      ]),
    ]
    for (const [exception, facts] of table) assert.deepEqual(factsOf(exception), facts)
  })
})

describe('The HttpError of another copy of the package', async () => {
  const other: typeof import('../../lib/http/errors.ts') = await import(
    new URL('../../lib/http/errors.js?copy', import.meta.url).href
  )
  const brand = Symbol.for('portico.HttpError')

  it('has its status, type, code, message and headers', () => {
    const error = new other.HttpError(429, 'Slow down', { headers: { 'Retry-After': '9' } })
    assert.notEqual(other.HttpError, HttpError)
    assert.ok(error instanceof HttpError)
    assert.ok(new HttpError(400) instanceof other.HttpError)
    assert.deepEqual(factsOf(error), {
      type: 'EXCEPTION_OTHER',
      status: 429,
      code: 429,
      message: 'Slow down',
    })
    assert.deepEqual(headersOf(error), { 'Retry-After': '9' })
    const missing = factsOf(new other.NoActionError('x'))
    assert.deepEqual([missing.type, missing.status], ['EXCEPTION_NO_ACTION', 404])
  })

  it('has no other status than that of an error', () => {
    const error = Object.assign(new other.HttpError(404), { status: 200 })
    assert.equal(factsOf(error).status, 500)
  })

  it('is no instance of a class below HttpError', () => {
    assert.equal(isInstance(NoControllerError, new other.NoControllerError('x')), false)
    assert.equal(isInstance(NoControllerError, new other.HttpError(404)), false)
    assert.equal(isInstance(NoControllerError, new HttpError(404)), false)
    assert.equal(isInstance(HttpError, new NoControllerError('x')), true)
  })

  it('is not imitated by an object, a property or a proxy', () => {
    const fakes: object[] = [
      { status: 404, [brand]: true },
      Object.create({ status: 404, [brand]: true }),
      Object.assign(new Error('x'), { status: 404, [brand]: true }),
      Object.setPrototypeOf(new Error('x'), hostileProxy({})),
      hostileProxy(new other.HttpError(404)),
    ]
    for (const fake of fakes) {
      assert.equal(isInstance(HttpError, fake), false)
      assert.equal(factsOf(toError(fake)).status, 500)
    }
  })
})

describe('isClientGone()', () => {
  it('recognizes the errors of the signal and an AbortError, after the client has gone', () => {
    const here = new HttpRequest({ target: '/' })
    const gone = new HttpRequest({ target: '/', aborted: true })
    const abort = Object.assign(new Error('x'), { name: 'AbortError' })
    const premature = Object.assign(new Error('x'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
    const table: [Error, HttpRequest | undefined, boolean][] = [
      [new ClientGoneError(), undefined, true],
      [new ClientGoneError(), gone, true],
      // The signal of another request aborted.
      [new ClientGoneError(), here, false],
      [abort, gone, true],
      [abort, here, false],
      // node:stream joins an AbortError and the end of the connection.
      [Object.assign(new AggregateError([abort]), { code: 'ABORT_ERR' }), gone, true],
      // The same with an error that has no code, or another one: node-fetch, undici.request().
      [new AggregateError([abort, premature]), gone, true],
      [new AggregateError([abort, premature]), here, false],
      [new AggregateError([abort, new Error('x')]), gone, false],
      [new AggregateError([new Error('x'), premature]), gone, false],
      [Object.defineProperty(new Error('x'), 'errors', throwing), gone, false],
      [abort, undefined, false],
      [new ServerClosingError(), gone, true],
      [new ServerClosingError(), here, false],
      [new Error('x'), gone, false],
      [new HttpError(400, 'The client has gone away'), here, false],
      // fetch() and other clients of HTTP that send the body of the request.
      [new TypeError('fetch failed', { cause: new ClientGoneError() }), gone, true],
      [new TypeError('fetch failed', { cause: new ServerClosingError() }), gone, true],
      [new TypeError('terminated', { cause: new ClientGoneError() }), gone, true],
      [new TypeError('fetch failed', { cause: new ClientGoneError() }), here, false],
      [new TypeError('fetch failed', { cause: new Error('x') }), gone, false],
      [new Error('The client has gone away', { cause: new ClientGoneError() }), gone, true],
      [new Error('The body has failed', { cause: new ClientGoneError() }), gone, false],
      [new TypeError('x is not a function', { cause: abort }), gone, false],
      // axios and node:http with the signal of the request.
      [Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }), gone, true],
      [Object.assign(new Error('aborted'), { code: 'ECONNRESET' }), gone, true],
      [Object.assign(new Error('aborted'), { code: 'ECONNRESET' }), here, false],
      [Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }), gone, true],
      [new Error('Network Error', { cause: new ClientGoneError() }), gone, true],
      [Object.assign(new Error('connection terminated'), { code: 'ECONNRESET' }), gone, false],
      [Object.defineProperty(new Error('x'), 'cause', throwing), gone, false],
    ]
    for (const [exception, request, expected] of table) {
      assert.equal(isClientGone(exception, request), expected)
    }
  })
})

describe('headersOf()', () => {
  it('returns the headers of an HttpError, and none of any other exception', () => {
    const headers = { Allow: 'GET' }
    assert.deepEqual(headersOf(new HttpError(405, 'x', { headers })), headers)
    for (const exception of [
      new HttpError(405, 'x'),
      Object.assign(new Error('x'), { headers }),
      Object.assign(new HttpError(405, 'x'), { headers: null }),
      Object.defineProperty(new HttpError(405, 'x'), 'headers', throwing),
    ]) {
      assert.deepEqual(headersOf(exception), {})
    }
  })
})

describe('isInstance()', () => {
  it('does the same as instanceof, and is false for a value that throws', () => {
    assert.equal(isInstance(HttpError, new NoControllerError('x')), true)
    assert.equal(isInstance(HttpError, new Error('x')), false)
    for (const value of [null, 1, {}, hostileProxy({}), hostileProxy(new HttpError(404, 'x'))]) {
      assert.equal(isInstance(HttpError, value), false)
    }
  })
})

describe('read()', () => {
  it('returns the property, and undefined if it cannot be read', () => {
    assert.equal(read({ a: 1 }, 'a'), 1)
    for (const value of [null, undefined, 3, {}, hostileProxy({})]) {
      assert.equal(read(value, 'a'), undefined)
    }
    assert.equal(read(withThrowingGetters, 'message'), undefined)
  })
})
