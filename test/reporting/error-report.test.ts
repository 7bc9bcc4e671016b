import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import { toErrorRequest } from '../../lib/dispatch/error-request.ts'
import { FormBody } from '../../lib/http/body.ts'
import {
  HttpError,
  MalformedMessageError,
  NoActionError,
  NoControllerError,
  NoRouteError,
  rejectionWith,
} from '../../lib/http/errors.ts'
import { HttpRequest, stateOf, withState } from '../../lib/http/request.ts'
import { messageForClient } from '../../lib/reporting/client-message.ts'
import { type ErrorReport, makeReport, shapesOf } from '../../lib/reporting/error-report.ts'
import type { ExceptionReport } from '../../lib/reporting/exception-report.ts'
import type { Failure } from '../../lib/reporting/failure.ts'

const CANARY = 'c4n4ry-Token'
const TOKEN = '0AfJohXkq9TzB3mWcR7Lp'

const requestOf = (
  target: string,
  { controller = 'news', action = 'list', form = '', method = 'GET' } = {},
): HttpRequest => {
  const [path = ''] = target.split('?')
  const pairs = path.split('/').slice(3).join('/')
  return withState(new HttpRequest({ target, method, headers: { cookie: `sid=${CANARY}` } }), {
    path,
    q: path,
    route: { module: 'default', controller, action, pairs },
    form: new FormBody(Buffer.from(form)),
    settings: { maxBodyBytes: 1, trusted: new BlockList() },
  })
}

const request = requestOf(`/news/list/id/42?dsh=${CANARY}&page=2`, { method: 'PUT' })

function report(failure: Partial<Failure> & { exceptions: readonly unknown[] }): ErrorReport {
  const options = { logParams: new Set(['page']) }
  return makeReport('ID', { request, status: 500, ...failure } as Failure, options)
}

function withoutStack(result: ExceptionReport): object {
  const { stack: _, ...rest } = result
  return rest
}

describe('makeReport()', () => {
  it('shows the message of a malformed body, and no value that an action has added to it', () => {
    for (const code of ['HPE_INVALID_CHUNK_SIZE', 'ERR_HTTP_REQUEST_TIMEOUT', 'CONNECT']) {
      const exception = new MalformedMessageError(400, code)
      const { message } = exception
      assert.equal(report({ exceptions: [exception], status: 400 }).message, message)
      const alone = { exceptions: [new MalformedMessageError(400, code)], request: undefined }
      assert.equal(report({ ...alone, status: 400 }).message, message)
    }
    const rejected = rejectionWith(417, 'Expected the header "Expect" to be "100-continue"')
    const upgrade = { exceptions: [rejected], request: undefined, status: 417 }
    assert.equal(report(upgrade).message, rejected.message)
    for (const added of [request, undefined]) {
      const exception = new MalformedMessageError(400, 'HPE_INVALID_CHUNK_SIZE')
      exception.message = `The upload of ${CANARY} failed: ${exception.message}`
      assert.doesNotMatch(
        JSON.stringify(report({ exceptions: [exception], request: added, status: 400 })),
        /c4n4ry/,
      )
    }
  })

  it('has all fields that SPEC section 8 lists, and is plain data', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2024-05-06T07:08:09.010Z') })
    const result = report({ exceptions: [new Error('boom')], durationMs: 1.2345 })
    assert.match(
      result.fingerprint,
      /^EXCEPTION_OTHER Error error-report\.test\.js:\d+:\d+ news\/list$/,
    )
    assert.deepEqual(withoutStack(result), {
      id: 'ID',
      fingerprint: result.fingerprint,
      time: '2024-05-06T07:08:09.010Z',
      type: 'EXCEPTION_OTHER',
      name: 'Error',
      message: 'boom',
      code: 0,
      previous: null,
      module: 'default',
      controller: 'news',
      action: 'list',
      route: null,
      method: 'PUT',
      params: Object.assign(Object.create(null), {
        dsh: 'token(12)',
        id: 'digits(2)',
        page: '2',
      }),
      status: 500,
      durationMs: 1.2,
    })
    assert.deepEqual(JSON.parse(JSON.stringify(result)), {
      ...result,
      params: { ...result.params },
    })
  })

  it('has type, code, name and message of each kind', () => {
    const table: [Error, unknown[]][] = [
      [
        new NoControllerError('news'),
        ['EXCEPTION_NO_CONTROLLER', 0, 'NoControllerError', 'Invalid controller specified (news)'],
      ],
      [
        new NoActionError('list'),
        ['EXCEPTION_NO_ACTION', 404, 'NoActionError', 'Action "list" does not exist'],
      ],
      [
        new NoRouteError(),
        ['EXCEPTION_NO_ROUTE', 404, 'NoRouteError', 'No route matched the request'],
      ],
      [new HttpError(403, 'no', { code: 'E_NO' }), ['EXCEPTION_OTHER', 'E_NO', 'HttpError', 'no']],
      [new TypeError('t'), ['EXCEPTION_OTHER', 0, 'TypeError', 't']],
      [Object.assign(new Error('x'), { code: 7, name: 'Own' }), ['EXCEPTION_OTHER', 7, 'Own', 'x']],
      [Object.assign(new Error('x'), { code: {}, name: 3 }), ['EXCEPTION_OTHER', 0, 'Error', 'x']],
      [Object.assign(new Error('x'), { name: 'a b' }), ['EXCEPTION_OTHER', 0, 'list(2)', 'x']],
    ]
    for (const [exception, expected] of table) {
      const { type, code, name, message } = report({ exceptions: [exception], status: 404 })
      assert.deepEqual([type, code, name, message], expected)
    }
  })

  it('has the causes, four deep, and the first three errors of an AggregateError', () => {
    let error = new Error('0')
    for (let i = 1; i <= 6; i++) error = new Error(String(i), { cause: error })
    const chain: string[] = []
    for (let each: ExceptionReport | null = report({ exceptions: [error] }); each; ) {
      chain.push(each.message)
      each = each.previous
    }
    assert.deepEqual(chain, ['6', '5', '4', '3', '2'])

    const many = new AggregateError([1, 'text', null, new Error('4')], 'many')
    const { errors = [], message } = report({ exceptions: [many] })
    assert.equal(message, 'many')
    assert.deepEqual(
      errors.map((each) => each.message),
      ['number', 'text', 'null'],
    )
    const cycle = new Error('cycle')
    cycle.cause = cycle
    assert.equal(report({ exceptions: [cycle] }).previous?.message, 'cycle')
    for (const cause of [null, 'text', 42, {}]) {
      const { previous } = report({ exceptions: [new Error('x', { cause })] })
      const shown = cause === null ? 'null' : typeof cause === 'string' ? cause : typeof cause
      assert.equal(previous?.message, shown)
    }
    assert.equal(report({ exceptions: [new Error('x')] }).previous, null)
  })

  it('has both errors of a SuppressedError, the first one first', () => {
    class SuppressedError extends Error {
      readonly suppressed = new Error('query')
      readonly error = new Error('rollback')
    }
    const { errors = [] } = report({ exceptions: [new SuppressedError('suppressed')] })
    assert.deepEqual(
      errors.map((each) => each.message),
      ['query', 'rollback'],
    )
    const error = new Error('rollback')
    const table: [facts: object, shown: string[] | undefined][] = [
      [{ suppressed: new Error('query'), error: 'text' }, ['query', 'text']],
      [{ suppressed: new Error('query'), error: undefined }, ['query']],
      [{ suppressed: { message: 'query' }, error }, ['query', 'rollback']],
      [{ suppressed: true, error: 'CANARY' }, undefined],
      [{ suppressed: null, error, errors: [new Error('own')] }, ['own']],
      [{ suppressed: [], errors: [new Error('own')] }, ['own']],
      [{ errors: 'abc' }, undefined],
    ]
    for (const [facts, shown] of table) {
      const { errors } = report({ exceptions: [Object.assign(new Error('x'), facts)] })
      assert.deepEqual(
        errors?.map((each) => each.message),
        shown,
      )
    }
  })

  it('has 12 exceptions at most, and counts the others', () => {
    const nest = (depth: number): Error =>
      depth === 0
        ? new Error('x')
        : new AggregateError(
            Array.from({ length: 3 }, () => nest(depth - 1)),
            'x',
            {
              cause: nest(depth - 1),
            },
          )
    const all = (each: ExceptionReport): ExceptionReport[] => [
      each,
      ...[...(each.previous ? [each.previous] : []), ...(each.errors ?? [])].flatMap(all),
    ]
    const shown = all(report({ exceptions: [nest(4)] }))
    assert.equal(shown.length, 12)
    assert.equal(
      shown.reduce((sum, { omitted = 0 }) => sum + omitted, 0),
      1 + 4 * 9,
    )
    assert.deepEqual(
      report({ exceptions: [new AggregateError(Array(1_000).fill('text'))] }).omitted,
      997,
    )
    assert.equal('omitted' in report({ exceptions: [new Error('x', { cause: 'y' })] }), false)
    // A length may be a value of the request.
    const ofRequest = { name: 'Error', message: 'x', errors: { length: 4_711 } }
    assert.equal('omitted' in report({ exceptions: [ofRequest] }), false)
    // The cause below the deepest one.
    let deep = new Error('0')
    for (let i = 0; i < 6; i++) deep = new Error('x', { cause: deep })
    const last = report({ exceptions: [deep] }).previous?.previous?.previous?.previous
    assert.deepEqual([last?.previous, last?.omitted], [null, 1])
  })

  it('has the frames behind a message of any length', () => {
    const { stack = [] } = report({ exceptions: [new Error('x '.repeat(50_000))] })
    assert.match(stack[0] ?? '', /error-report\.test\.js:\d+:\d+/)
  })

  it('shows messages by their lengths alone once they and their stacks have 3,000,000 characters', () => {
    const long = 'x'.repeat(1_400_000)
    const exception = new Error(long, { cause: new Error(long, { cause: new Error('no') }) })
    const { message, stack, previous } = report({ exceptions: [exception] })
    assert.equal(message, '[token(1400000)]')
    assert.notEqual(stack, undefined)
    assert.deepEqual([previous?.message, previous?.stack], ['[text(1400000)]', undefined])
    assert.deepEqual(previous?.previous?.message, 'no')
    const ofText = report({ exceptions: [new Error('x', { cause: 'y'.repeat(5_000_000) })] })
    assert.equal(ofText.previous?.message, '[text(5000000)]')
    assert.notEqual(previous?.previous?.stack, undefined)
  })

  it('has both exceptions if the error action failed too', () => {
    const first = new HttpError(503, 'first')
    const result = report({ exceptions: [first, new TypeError(`second ${CANARY}`)] })
    assert.equal(result.message, 'first')
    assert.deepEqual([result.second?.name, result.second?.message], ['TypeError', 'second [dsh]'])
    assert.ok((result.second?.stack?.length ?? 0) > 0)
    assert.equal('second' in report({ exceptions: [first] }), false)
    const missing = report({ exceptions: [first, new NoRouteError()] })
    assert.equal(missing.second?.message, 'No route matched the request')
  })

  it('has the frames of the stack, for a 5xx', () => {
    const { stack = [] } = report({ exceptions: [new Error('two\n    at lines (x.js:1:1)')] })
    assert.match(stack[0] ?? '', /error-report\.test\.js:\d+:\d+/)
    assert.ok(stack.length <= 8)
    for (const frame of stack) assert.doesNotMatch(frame, /^at |lines \(x/)
    assert.equal('stack' in report({ exceptions: [new Error('x')], status: 404 }), false)

    const own = (text: unknown): readonly string[] | undefined =>
      report({ exceptions: [Object.defineProperty(new Error('x'), 'stack', { value: text })] })
        .stack
    assert.equal(own(undefined), undefined)
    assert.equal(own(`Error: x\n${CANARY}\nat all`), undefined)
    const frames = Array.from({ length: 12 }, (_, i) => `    at f (file:///${CANARY}/a.js:${i}:1)`)
    assert.deepEqual(
      own(['Error: x', ...frames].join('\n')),
      Array.from({ length: 8 }, (_, i) => `f (file:///[dsh]/a.js:${i}:1)`),
    )
    const [long = ''] = own(`Error: x\n    at ${'f'.repeat(500)} (a.js:1:1)`) ?? []
    assert.equal(long, `${'f'.repeat(300)}...`)
  })

  it('holds no value of the request: in messages, stacks, causes, codes and names', () => {
    const nested = new Error(`nested ${CANARY}`)
    const error = Object.assign(
      new AggregateError([nested, CANARY], `it was ${CANARY}`, {
        cause: new Error(`because of ${encodeURIComponent(CANARY)}`, { cause: CANARY }),
      }),
      { name: CANARY, code: CANARY },
    )
    const result = report({ exceptions: [error, nested] })
    assert.doesNotMatch(JSON.stringify(result), new RegExp(CANARY))
    assert.deepEqual(
      [result.message, result.previous?.message, result.previous?.previous?.message],
      ['it was [dsh]', 'because of [dsh]', '[dsh]'],
    )
    assert.deepEqual([result.name, result.code], ['token(12)', 'token(12)'])
  })

  it('shows both ends of a message of more than 400 characters, and escapes invisible characters', () => {
    const { message } = report({ exceptions: [new Error('x'.repeat(401))] })
    assert.equal(message, `${'x'.repeat(250)}...${'x'.repeat(147)}`)
    const lines = report({ exceptions: [new Error(`first${'\n'.repeat(200)}last`)] }).message
    assert.match(lines, /^first\\u000a.{200,}\.\.\..{100,}\\u000alast$/)
    assert.equal(lines.length, 400)
    assert.equal(
      report({ exceptions: [new Error('\u001b\n\u2028')] }).message,
      '\\u001b\\u000a\\u2028',
    )
  })

  it('shows names that look like names, and the shapes of others, in the message too', () => {
    const names = { controller: TOKEN, action: '%0a' }
    const target = `/${TOKEN}/%0a?a=${CANARY}`
    const noController = report({
      request: requestOf(target, names),
      exceptions: [new NoControllerError(TOKEN)],
      status: 404,
    })
    assert.deepEqual(
      [noController.controller, noController.action, noController.message],
      ['token(21)', 'token(3)', 'Invalid controller specified (token(21))'],
    )
    const noAction = report({
      request: requestOf(target, names),
      exceptions: [new NoActionError('%0a')],
      status: 404,
    })
    assert.equal(noAction.message, 'Action "token(3)" does not exist')
    const patterned = requestOf('/$&/x', { controller: '$&' })
    const { message } = report({ request: patterned, exceptions: [new NoControllerError('$&')] })
    assert.equal(message, 'Invalid controller specified (token(2))')
  })

  it('shows a requested name that is also the value of a parameter', () => {
    const from = requestOf('/signin/v2?service=signin&a=specified', { controller: 'signin' })
    const { message } = report({ request: from, exceptions: [new NoControllerError('signin')] })
    assert.equal(message, 'Invalid controller specified (signin)')
    const other = new NoControllerError('specified')
    assert.equal(
      report({ request: from, exceptions: [other] }).message,
      'Invalid controller [a] ([a])',
    )
  })

  it('says what an unrouted request looks like', () => {
    const from = requestOf(`/callback/x?code=${CANARY}&state=${CANARY}`, { controller: 'callback' })
    const exceptions = [new NoControllerError('callback')]
    const result = report({ request: from, exceptions, status: 404 })
    assert.equal(result.looksLike, 'callback')
    assert.match(result.hint ?? '', /redirect_uri/)
    assert.equal('looksLike' in report({ request: from, exceptions, status: 500 }), false)
    assert.equal('looksLike' in report({ exceptions, status: 404 }), false)
  })

  it('withholds the message if there is no request, and so no known values', () => {
    const error = new Error(`${CANARY} went wrong`, { cause: new TypeError('oneword') })
    const result = report({ request: undefined, exceptions: [error] })
    assert.deepEqual(
      [result.message, result.previous?.message, result.name, result.previous?.name],
      ['token(12) word(4) wrong', 'word(7)', 'Error', 'TypeError'],
    )
    assert.match(result.stack?.[0] ?? '', /error-report\.test\.js:\d+:\d+/)
    assert.deepEqual(
      [
        result.module,
        result.controller,
        result.action,
        result.method,
        result.params,
        result.durationMs,
      ],
      ['', '', '', '', {}, 0],
    )
    assert.doesNotMatch(JSON.stringify(result), /went wrong/)
  })

  it('shows frames without a request, except parts that do not look like names', () => {
    const error = new Error('x')
    const frames = [
      'async Promise.all (index 0:1:1)',
      'new Store.#open (file:///srv/app/news-store.js:1:2)',
      'process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
      `Object.${TOKEN} [as read] (file:///srv/${TOKEN}/news.js:1:2)`,
      `eval (${TOKEN}:1:1)`,
      'Hunter2#Sec$Xy9@abcdef:1:12',
      'AKIA.IOSF.ODNN.7EXA.MPLE:1:12',
    ]
    error.stack = ['Error: x', ...frames.map((frame) => `    at ${frame}`)].join('\n')
    assert.deepEqual(report({ request: undefined, exceptions: [error] }).stack, [
      '[text(31)]',
      ...frames.slice(1, 3),
      'Object.token(21) [as read] (file:///srv/token(21)/news.js:1:2)',
      '[text(32)]',
      '[token(27)]',
      '[token(29)]',
    ])
    const name = 'xkqzvbnwtrpj'
    const object = { [name]: () => new Error('x') }
    const made = object[name]?.()
    const { stack = [] } = report({ request: undefined, exceptions: [made] })
    assert.doesNotMatch(JSON.stringify(stack), new RegExp(name))
    assert.match(stack[0] ?? '', /error-report\.test\.js:\d+:\d+\)$/)
  })

  it('shows the name of a class, and no other name that is a value', () => {
    class Kq7xZ9vT2mWp extends Error {}
    const named = (error: Error, from = request): string =>
      report({ exceptions: [error], request: from }).name
    const http = withState(new HttpRequest({ target: '/?a=HttpError&b=TypeError&c=GoneAway' }), {})
    assert.equal(named(new HttpError(400, 'x'), http), 'HttpError')
    assert.equal(named(Object.assign(new Error('x'), { name: 'GoneAway' }), http), 'word(8)')
    class GoneAway extends Error {
      override readonly name = 'GoneAway'
    }
    assert.equal(named(new GoneAway('x'), http), 'GoneAway')
    const thrown = { name: CANARY, constructor: { name: CANARY }, message: 'x' }
    const { previous } = report({ exceptions: [new Error('x', { cause: thrown })] })
    assert.equal(previous?.name, 'token(12)')
    assert.equal(named(Object.assign(new Kq7xZ9vT2mWp('x'), { name: 'Kq7xZ9vT2mWp' })), 'token(12)')
  })

  it('shows short integers as codes, and no other number that was read in a value', () => {
    const from = withState(
      new HttpRequest({ target: '/?a=0042999&b=1.75e4&c=12.3400&d=0.00012345&e=042' }),
      {},
    )
    const code = (code: number): unknown =>
      report({ exceptions: [Object.assign(new Error('x'), { code })], request: from }).code
    for (const each of [42_999, 17_500]) assert.equal(code(each), 'digits(5)')
    for (const each of [12.34, 0.000_123_45]) assert.match(String(code(each)), /^token\(\d+\)$/)
    for (const each of [42, 999, 0, -1, 54_321]) assert.equal(code(each), each)
  })

  it('shows the codes of the system, and shapes of other codes that look like tokens', () => {
    const code = (code: string, target = '/'): unknown =>
      report({
        exceptions: [Object.assign(new Error('x'), { code })],
        request: new HttpRequest({ target }),
      }).code
    for (const each of ['ECONNREFUSED', 'EADDRNOTAVAIL', 'ERR_HTTP2_STREAM_CANCEL'])
      assert.equal(code(each), each)
    assert.equal(code('ECONNREFUSED', '/?a=ECONNREFUSED'), 'word(12)')
    assert.equal(code('KQWXZNVTMWPR'), 'word(12)')
  })

  it('reports a failure without an exception', () => {
    assert.equal(report({ exceptions: [] }).message, 'No exception')
  })
})

describe('shapesOf()', () => {
  it('has the shape of each parameter of every source, by name; the value of those allowed', () => {
    const from = requestOf(
      `/news/list/id/42?q=x&module=y&a=%1b&scope=a+b&empty=&sort=%1b${'s'.repeat(200)}`,
      {
        form: 'text=a+b!&error_handler=1',
      },
    )
    assert.deepEqual(
      { ...shapesOf(from, new Set(['sort', 'id', 'q', 'toString'])) },
      {
        text: 'text(4)',
        a: 'text(1)',
        scope: 'list(2)',
        empty: 'empty',
        sort: `\\u001b${'s'.repeat(99)}`,
        id: '42',
      },
    )
  })

  it('shows no value of a request to the address of a sign-in, also if its name is allowed', () => {
    const request = requestOf('/elp/oauth.php?code=4711')
    stateOf(request).message.ending = { hidesParams: true }
    assert.deepEqual({ ...shapesOf(request, new Set(['code'])) }, { code: 'digits(4)' })
  })

  it('shows the shape of a name that does not look like one', () => {
    const shapes = shapesOf(requestOf(`/a/b?${TOKEN}=1&a%0ab=2`), new Set())
    assert.deepEqual({ ...shapes }, { 'token(21)': 'digits(1)', 'text(3)': 'digits(1)' })
  })

  it('treats names of Object.prototype as ordinary ones', () => {
    const shapes = shapesOf(requestOf('/a/b?__proto__=1&constructor=2'), new Set())
    assert.deepEqual(Object.entries(shapes), [
      ['__proto__', 'digits(1)'],
      ['constructor', 'digits(1)'],
    ])
  })

  it('has 40 parameters at most', () => {
    const many = (count: number): HttpRequest =>
      requestOf(`/a/b?${Array.from({ length: count }, (_, i) => `p${i}=`).join('&')}`)
    assert.equal(Object.keys(shapesOf(many(40), new Set())).length, 40)
    assert.equal(Object.keys(shapesOf(many(1_000), new Set())).length, 40)
  })

  it('has no error_handler', () => {
    const request = toErrorRequest(requestOf('/a/b'), new Error('x'))
    assert.deepEqual({ ...shapesOf(request, new Set(['error_handler'])) }, {})
  })
})

describe('messageForClient()', () => {
  it('has the requested names that look like names, and no other text of the request', () => {
    const from = requestOf(`/${TOKEN}/x?dsh=${CANARY}&a=specified`, {
      controller: TOKEN,
      action: 'x',
    })
    const table: [Error, string][] = [
      [new NoControllerError(TOKEN), 'Invalid controller specified (token(21))'],
      [new NoActionError('x'), 'Action "x" does not exist'],
      [new NoRouteError(), 'No route matched the request'],
      [new NoActionError(CANARY), 'Action "[dsh]" does not exist'],
      [new HttpError(403, `not with ${CANARY}\n`), 'not with [dsh]\\u000a'],
      [Object.assign(new Error('x'), { message: 3 }), ''],
    ]
    for (const [exception, message] of table) {
      assert.equal(messageForClient(exception, from), message)
    }
  })
})
