import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  ClientGoneError,
  HttpError,
  NoActionError,
  NoControllerError,
  NoRouteError,
  ThrownValueError,
} from '../../lib/http/errors.ts'
import { runNode } from '../support/run-node.ts'

describe('HttpError', () => {
  it('carries its status as its code, no headers and no cause', () => {
    const error = new HttpError(403, 'Only editors may save news')
    const { type, status, code, headers, message } = error
    assert.deepEqual(
      { type, status, code, headers, message },
      {
        type: 'EXCEPTION_OTHER',
        status: 403,
        code: 403,
        headers: {},
        message: 'Only editors may save news',
      },
    )
    assert.equal(Object.hasOwn(error, 'cause'), false)
    assert.equal(String(error), 'HttpError: Only editors may save news')
  })

  it('has no unknown option, such as the headers themselves', () => {
    assert.throws(() => new HttpError(401, 'Sign in', { 'Retry-After': '1' } as object), {
      name: 'TypeError',
      message: 'There is no "Retry-After" among the options of an HttpError',
    })
  })

  it('has the reason phrase of its status as its message, unless it has one', () => {
    assert.equal(new HttpError(403).message, 'Forbidden')
    assert.equal(new HttpError(503, undefined, { code: 'BUSY' }).message, 'Service Unavailable')
    assert.equal(new HttpError(403, '').message, '')
    // A status without a reason phrase.
    assert.equal(new HttpError(499).message, 'Error')
  })

  it('takes a cause, a code and headers', () => {
    const cause = new Error('disk full')
    const headers = { 'Retry-After': '60' }
    const error = new HttpError(503, 'Later', { cause, code: 'BUSY', headers })
    assert.equal(error.cause, cause)
    assert.equal(error.code, 'BUSY')
    assert.deepEqual(error.headers, headers)
    assert.equal(new HttpError(503, 'Later', { code: 0 }).code, 0)
    assert.equal(new HttpError(503, 'Later', { cause: null }).cause, null)
  })

  it('rejects headers that cannot be sent', () => {
    const table = [{ 'a b': 'x' }, { X: 'a\nb' }, { Connection: 'close' }, { X: undefined }]
    for (const headers of table) {
      assert.throws(
        () => new HttpError(503, '', { headers: headers as Record<string, string> }),
        TypeError,
      )
    }
  })

  it('takes the statuses from 400 to 599 and no others', () => {
    for (const status of [400, 418, 599]) assert.equal(new HttpError(status, '').status, status)
    for (const status of [399, 600, 404.5, Number.NaN, Number.POSITIVE_INFINITY, 200, 0]) {
      assert.throws(() => new HttpError(status, ''), {
        name: 'RangeError',
        message: `Expected an error status from 400 to 599, got the ${typeof status} "${status}"`,
      })
    }
  })
})

describe("The dispatcher's and the router's errors", () => {
  it('have the types, messages, codes and statuses of ZF1', () => {
    const table: [HttpError, string, string, string, number][] = [
      [
        new NoControllerError('signin'),
        'NoControllerError',
        'EXCEPTION_NO_CONTROLLER',
        'Invalid controller specified (signin)',
        0,
      ],
      [
        new NoActionError('Foo.bar'),
        'NoActionError',
        'EXCEPTION_NO_ACTION',
        'Action "Foo.bar" does not exist',
        404,
      ],
      [
        new NoRouteError(),
        'NoRouteError',
        'EXCEPTION_NO_ROUTE',
        'No route matched the request',
        404,
      ],
    ]
    for (const [error, ...expected] of table) {
      assert.ok(error instanceof HttpError)
      assert.deepEqual([error.name, error.type, error.message, error.code], expected)
      assert.equal(error.status, 404)
      assert.equal(error.cause, undefined)
    }
  })

  it('carry the name as it was requested', () => {
    assert.equal(new NoControllerError('%3Cb%3E').controller, '%3Cb%3E')
    assert.equal(new NoActionError('__proto__').action, '__proto__')
  })
})

describe('The stack of a 404', () => {
  it('has no frames, and other errors keep theirs', () => {
    for (const error of [new NoControllerError('a'), new NoActionError('a'), new NoRouteError()]) {
      assert.equal(error.stack, `${error.name}: ${error.message}`)
    }
    assert.match(new Error('x').stack ?? '', /\n {4}at /)
  })

  it('does not matter to a program that has frozen Error', async () => {
    const file = new URL('../../lib/http/errors.js', import.meta.url)
    const script = `Object.freeze(Error)
      const { NoRouteError } = await import('${file}')
      console.log(new NoRouteError().message)`
    assert.deepEqual(await runNode(['--input-type=module', '--eval', script]), {
      code: 0,
      output: 'No route matched the request\n',
    })
  })
})

describe('ClientGoneError', () => {
  it('is a 400', () => {
    const { name, type, status, code, message } = new ClientGoneError()
    assert.deepEqual(
      [name, type, status, code, message],
      ['ClientGoneError', 'EXCEPTION_OTHER', 400, 400, 'The client has gone away'],
    )
  })
})

describe('ThrownValueError', () => {
  it('keeps the value, with code 0 unless it had one', () => {
    const error = new ThrownValueError(null, 'null was thrown')
    assert.ok(error instanceof Error && !(error instanceof HttpError))
    assert.deepEqual(
      [error.name, error.value, error.code, error.message],
      ['ThrownValueError', null, 0, 'null was thrown'],
    )
    assert.equal(new ThrownValueError({}, '', 'E_ODD').code, 'E_ODD')
  })
})
