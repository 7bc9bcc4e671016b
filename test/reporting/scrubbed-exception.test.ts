import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import { NoControllerError } from '../../lib/http/errors.ts'
import { stateOf } from '../../lib/http/request.ts'
import {
  channels,
  type ErrorReport,
  FrontController,
  HttpError,
  HttpRequest,
  type HttpResponse,
} from '../../lib/index.ts'
import { makeReport } from '../../lib/reporting/error-report.ts'
import type { Failure } from '../../lib/reporting/failure.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'

const CANARY = 'c4n4ry-Token'
// Too long to be searched for.
const TOO_LONG = 'x'.repeat(200_000)

function report(failure: Partial<Failure> & Pick<Failure, 'exceptions'>): ErrorReport {
  const request = new HttpRequest({ target: `/?dsh=${CANARY}&x=${TOO_LONG}` })
  const options = { logParams: new Set<string>() }
  return makeReport('ID', { request, status: 500, ...failure }, options)
}

/** An error that counts how often each property is read. */
function counting(
  reads: Map<string, number>,
  { prototype }: ErrorConstructor | typeof HttpError,
): Error {
  const error = Object.create(prototype)
  const properties: Record<string, unknown> = {
    name: 'Error',
    message: `no ${CANARY}`,
    code: 0,
    cause: undefined,
    errors: undefined,
    stack: `Error: no ${CANARY}\n    at list (file:///news.js:1:2)`,
  }
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(error, name, {
      get() {
        reads.set(name, (reads.get(name) ?? 0) + 1)
        return value
      },
    })
  }
  return error
}

/** An error whose message was changed after its stack was read. Each test has files of its own: a location that was shown stays known. */
function forged(value: string, message: string): Error {
  const error = new Error(message)
  error.stack = `Error: No item ${value}\n    at list (file:///srv/app/real.js:3:4)`
  return error
}

function forgedIn(request: HttpRequest, file = 'wonderland'): readonly string[] | undefined {
  const exception = forged(`y\n    at f (/home/alice/${file}.js:7:1)`, 'No item y')
  return report({ request, exceptions: [exception] }).stack
}

describe('scrubException()', () => {
  it('removes the values of the first request from an exception that several requests share', async () => {
    const shown: unknown[] = []
    const tokens = ['Alice0AfJohXkq', 'Bobq9TzB3mWcR']
    const [first] = tokens
    const shared = new HttpError(403, `The token ${first} may not read at Bobq9TzB3mWcR`)
    const list = async (request: HttpRequest): Promise<never> => {
      if (request.query.has('wrapped')) throw new Error('No team', { cause: shared })
      throw shared
    }
    const front = new FrontController({
      controllers: { news: { list } },
      onReport: (report) => shown.push(report.previous?.message ?? report.message),
    })
    const sendAs = async (token: string | undefined, query = ''): Promise<string> => {
      const headers = { authorization: `Bearer ${token}`, accept: 'text/plain' }
      const { body } = await front.handle(
        new HttpRequest({ target: `/news/list${query}`, headers }),
      )
      return String(body)
    }
    assert.match(await sendAs(tokens[0]), /The token token\(14\) word\(3\) not read at token\(13\)/)
    const masked = 'The token [value] may not read at [header]'
    assert.doesNotMatch(await sendAs(tokens[1]), /0AfJo|9TzB/)
    await sendAs(tokens[1], '?wrapped')
    assert.deepEqual(shown.slice(1), [masked, masked])
    // A text that another request has not seen may be any of its values.
    shared.message += ' (again)'
    assert.doesNotMatch(await sendAs('another'), /0AfJo|9TzB/)
  })

  it('takes no method for the cause: the exceptions of a class would share it', () => {
    class WithMethod extends Error {
      // As the class of the package verror.
      override cause: unknown = WithMethod.prototype.inner
      inner(): unknown {
        return undefined
      }
    }
    class WithInherited extends Error {}
    Object.defineProperty(WithInherited.prototype, 'cause', { value: (): unknown => undefined })
    for (const Type of [WithMethod, WithInherited]) {
      for (const message of ['the printer is offline', 'the scanner is offline']) {
        const request = new HttpRequest({ target: '/' })
        const shown = report({ exceptions: [new Type(message)], request })
        assert.deepEqual([shown.message, shown.previous], [message, null])
      }
    }
  })

  const fail = (text: string): never => {
    throw new Error(`no article ${text}`)
  }
  const wrap = (
    error: unknown,
    Type: new (text: string, options: ErrorOptions) => Error = Error,
  ): never => {
    throw new Type(`cannot load: ${(error as Error).message}`, { cause: error })
  }
  const nested = (error: unknown, depth: number): unknown =>
    depth === 0 ? error : new Error('nested', { cause: nested(error, depth - 1) })
  class BadRequest extends HttpError {
    constructor(message: string, options?: ErrorOptions) {
      super(400, message, options)
    }
  }
  // The second request throws the shared exception as it is, or in another exception.
  const sharings: Record<string, readonly [(text: string) => never, ((error: unknown) => never)?]> =
    {
      'an exception that the page of another one quotes': [
        fail,
        (error) => wrap(error, BadRequest),
      ],
      'an exception that another one quotes': [fail, (error) => wrap(error)],
      'an error of an AggregateError with a shared cause': [
        fail,
        (error) => {
          const errors = [(error as Error & { inner?: Error }).inner]
          errors[0] ??= new Error(`copy: ${(error as Error).message}`)
          Object.assign(error as object, { inner: errors[0] })
          throw new AggregateError(errors, 'none', { cause: error })
        },
      ],
      'an object that is no Error': [
        (text) => {
          throw { message: `no article ${text}` }
        },
      ],
      'an object that is no Error, as a cause': [
        (text) => {
          throw { message: `no article ${text}` }
        },
        (error) => wrap(error),
      ],
    }
  for (const [what, [load, rethrow]] of Object.entries(sharings)) {
    it(`shows no value of the first request in a report or a page of the second: ${what}`, async () => {
      const shown: string[] = []
      let shared: Promise<never> | undefined
      const list = async (request: HttpRequest): Promise<void> => {
        shared ??= (async () => load(String(request.param('id'))))()
        await shared.catch((error) => {
          if (rethrow) rethrow(error)
          throw error
        })
      }
      const front = createFront(
        { news: { list } },
        { onReport: (report) => shown.push(JSON.stringify(report)) },
      )
      for (const id of [CANARY, 'another-1', 'another-2']) {
        const { body } = await front.handle(new HttpRequest({ target: `/news/list?id=${id}` }))
        shown.push(String(body))
      }
      assert.equal(shown.length, 6)
      assert.doesNotMatch(shown.join('\n'), /c4n4ry/)
    })
  }

  const holding: Record<string, (error: Error) => unknown> = {
    'no other': (error) => error,
    '8 others': (error) => nested(error, 8),
    'an AggregateError with 200 others': (error) =>
      new AggregateError([...Array.from({ length: 200 }, () => new Error('none')), error]),
    'an AggregateError of another realm': (error) =>
      Object.assign(new Error('none'), { errors: runInNewContext('Array(5)').fill(error) }),
    'an exception that has its errors behind a getter': (error) =>
      Object.defineProperty(new Error('none'), 'errors', {
        get: () => [...Array.from({ length: 3 }, () => new Error('none')), error],
      }),
    'an exception that has its cause behind a getter': (error) =>
      Object.defineProperty(new HttpError(404, 'none'), 'cause', { get: () => error }),
    'a SuppressedError with a thrown object': (error) =>
      Object.assign(new Error('none'), { error, suppressed: { message: 'none' } }),
    'a SuppressedError with a thrown text': (error) =>
      Object.assign(new Error('none'), { error: 'none', suppressed: error }),
    'a list that is a cause': (error) => new Error('none', { cause: [new Error('none'), error] }),
  }
  // The report of the second request shows the shared exception among these, so that of the third one shows its text too.
  const shownBefore = [
    'an AggregateError of another realm',
    'a SuppressedError with a thrown object',
    'a SuppressedError with a thrown text',
  ]
  for (const [what, hold] of Object.entries(holding)) {
    it(`knows the first request of an exception in ${what}, although its error was only counted`, async () => {
      const shared = new HttpError(404, `no article ${CANARY}`)
      const thrown = [new HttpError(404, 'no id'), hold(shared), shared]
      const shown: string[] = []
      const warn = (fields: object): void => {
        shown.push(JSON.stringify(fields))
      }
      const view = (): never => {
        throw thrown.shift()
      }
      const error = (_: HttpRequest, response: HttpResponse): void => {
        response.status = 404
      }
      const controllers = { news: { view, print: view }, error: { error } }
      const front = createFront(controllers, { logger: { info() {}, warn, error: warn } })
      for (const target of ['/news/view', `/news/view?id=${CANARY}`, '/news/print?id=another']) {
        await front.handle(new HttpRequest({ target }))
      }
      assert.match(
        shown.join(),
        shownBefore.includes(what) ? /no article \[id\]/ : /no word\(7\) token\(12\)/,
      )
      assert.doesNotMatch(shown.join(), /c4n4ry/)
    })
  }

  it('knows the first request of an exception that arrives after its deadline', async () => {
    const shown: string[] = []
    const failing = deferred()
    const shared = failing.promise.then(() => {
      throw new Error(`no article ${CANARY}`)
    })
    const list = (): Promise<never> => shared
    const front = createFront(
      { news: { list } },
      { limits: { actionTimeoutMs: 50 }, onReport: (report) => shown.push(JSON.stringify(report)) },
    )
    await front.handle(new HttpRequest({ target: `/news/list?id=${CANARY}` }))
    const second = front.handle(new HttpRequest({ target: '/news/list?id=another' }))
    failing.resolve()
    await second
    assert.equal(shown.length, 2)
    assert.doesNotMatch(shown.join(), /c4n4ry/)
  })

  it('shows known words of an exception that was first reported without a request, or for another name', async () => {
    const shown: string[] = []
    const reported = new Error(`no article ${CANARY}`)
    const kept: unknown[] = []
    const list = (): never => {
      throw new Error('failed', { cause: kept.shift() })
    }
    const error = (request: HttpRequest, response: HttpResponse): void => {
      kept.push(request.errorHandler?.exception)
      response.status = 404
    }
    const front = createFront(
      { news: { list }, error: { error } },
      { onReport: (report) => shown.push(JSON.stringify(report)) },
    )
    front.report(reported)
    kept.push(reported)
    await front.handle(new HttpRequest({ target: '/news/list' }))
    await front.handle(new HttpRequest({ target: `/${CANARY}/list` }))
    kept.shift()
    await front.handle(new HttpRequest({ target: '/news/list' }))
    assert.equal(shown.length, 4)
    assert.doesNotMatch(shown.join(), /c4n4ry/)
  })

  it('shows known words of an exception with endless causes, or too many of them', () => {
    const endless = (): object =>
      new Proxy({}, { get: (_, name) => (name === 'cause' ? endless() : undefined) })
    const errors = Array.from({ length: 200 }, () => new Error('x'))
    const cyclic = new Error('cyclic')
    cyclic.cause = cyclic
    const request = new HttpRequest({ target: '/' })
    const messages = [
      new Error('no grandma', { cause: endless() }),
      new AggregateError(errors, 'no grandma'),
      cyclic,
    ].map((exception) => report({ request, exceptions: [exception] }).message)
    assert.deepEqual(messages, ['no word(7)', 'no word(7)', 'cyclic'])
  })

  it('reads a list that a thousand exceptions share only a few times', () => {
    let reads = 0
    const errors: unknown[] = []
    const list = new Proxy(errors, {
      get(target, name) {
        if (name === '0') reads++
        return Reflect.get(target, name)
      },
    })
    for (let i = 0; i < 1_000; i++) errors.push(Object.assign(new Error('x'), { errors: list }))
    const request = new HttpRequest({ target: '/' })
    const exceptions = [Object.assign(new Error('no grandma'), { errors: list })]
    assert.equal(report({ request, exceptions }).message, 'no word(7)')
    assert.ok(reads < 20, `${reads} reads`)
  })

  for (const status of [500, 404]) {
    it(`reads a ${status} once for the page, the log, the channel and onReport`, async (t) => {
      const reads = new Map<string, number>()
      const messages: unknown[] = []
      const receive = (each: unknown): void => {
        messages.push((each as ErrorReport).message)
      }
      channels.report.subscribe(receive)
      t.after(() => channels.report.unsubscribe(receive))
      const list = (): never => {
        throw Object.assign(counting(reads, status === 500 ? Error : HttpError), { status })
      }
      const front = new FrontController({
        controllers: new Map([['news', { list }]]),
        development: true,
        logger: { info() {}, warn: receive, error: receive },
        onReport: receive,
      })
      const headers = { accept: 'text/html' }
      const target = `/news/list?dsh=${CANARY}`
      const response = await front.handle(new HttpRequest({ target, headers }))
      assert.match(
        String(response.body),
        /<h1>no \[dsh\]<\/h1>\s*<p><strong>Error<\/strong>.*<span>list \(file:/s,
      )
      assert.deepEqual(messages, ['no [dsh]', 'no [dsh]', 'no [dsh]'])
      assert.deepEqual(Object.fromEntries(reads), {
        name: 1,
        message: 1,
        code: 1,
        // toError() looks for that of a fetch().
        cause: 4,
        // Two claims look for them too: when the error is admitted, and before the search.
        errors: 3,
        stack: 1,
      })
    })
  }

  it('knows the form, also for a request from before it was read', async () => {
    const { onReport, reports } = collectReports()
    const front = createFront(
      { news: { list: (_: HttpRequest, response: HttpResponse) => response.text('ok') } },
      { onReport },
    )
    const request = new HttpRequest({
      method: 'POST',
      target: '/news/list',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `dsh=${CANARY}`,
    })
    await front.handle(request)
    front.report(new Error(`no ${CANARY}`), { request })
    assert.equal(reports[0]?.message, 'no [dsh]')
  })

  it('shows the location of a frame, although a value has the name of its file', () => {
    const request = new HttpRequest({
      target: '/?page=articles&f=visitors&x=%20(/srv/forged.js:1:1)',
    })
    const error = new Error('x')
    error.stack = [
      'Error: x',
      '    at visitors (file:///srv/app/articles.js:1:34)',
      '    at file:///srv/app/articles.js:2:34',
      '    at articles (/srv/forged.js:1:1)',
    ].join('\n')
    assert.deepEqual(report({ request, exceptions: [error] }).stack, [
      '[f] (file:///srv/app/articles.js:1:34)',
      'file:///srv/app/articles.js:2:34',
      '[page]',
    ])
  })

  it('masks a value in the location of a frame that is not a name as a whole', () => {
    const target = '/?a=alice.miller@news.example&b=4539%201488%200343%206467&c=news'
    const error = new Error('x')
    error.stack = [
      'Error: x',
      '    at run (/srv/tenants/alice.miller@news.example/mail.js:1:6)',
      '    at /srv/tenants/4539 1488 0343 6467/mail.js:2:6',
      '    at run (/srv/My App/node_modules/@scope/news/index.js:3:6)',
    ].join('\n')
    const { stack } = report({ request: new HttpRequest({ target }), exceptions: [error] })
    assert.deepEqual(stack, [
      'run (/srv/tenants/[a]/mail.js:1:6)',
      '/srv/tenants/[b]/mail.js:2:6',
      'run (/srv/My App/node_modules/@scope/[c]/index.js:3:6)',
    ])
  })

  it('withholds texts where the values are too long to be searched', () => {
    const error = Object.assign(new TypeError(`no ${CANARY}`), { code: 'ECONNREFUSED' })
    error.stack = `TypeError: no ${CANARY}\n    at f${CANARY} (file:///a/withheld.js:1:2)\n    at ${CANARY}:3:4`
    const { name, message, code, stack } = report({ exceptions: [error] })
    assert.deepEqual(
      { name, message, code, stack },
      {
        name: 'TypeError',
        message: '[list(2)]',
        code: 'ECONNREFUSED',
        stack: ['withheld.js:1:2', '[token(16)]'],
      },
    )
    const own = Object.assign(new Error('x'), { name: CANARY, code: CANARY })
    const withheld = report({ exceptions: [own] })
    assert.deepEqual([withheld.name, withheld.code], ['token(12)', 'token(12)'])
    assert.doesNotMatch(JSON.stringify(report({ exceptions: [own, error] })), /c4n4ry/)
  })

  it('shows no frame that a value may have forged where the values are too long to be searched', () => {
    const value = 'y\n    at f (/home/alice/wonderland.js:7:1)'
    const encoded = encodeURIComponent(value)
    const percent = encoded.replace('wonder', '%77onder')
    const credentials = Buffer.from(`${value}:x`).toString('base64')
    const requests: [target: string, headers?: Record<string, string>][] = [
      [`x=${encoded}`],
      [`x=${encoded.toUpperCase()}`],
      [`x=${percent}`],
      [`x=${encodeURIComponent(percent)}`],
      [`x=${encodeURIComponent(encodeURIComponent(percent))}`],
      [`x=${encodeURIComponent(value.replace('w', '\\u0077'))}`],
      [`x=${encodeURIComponent(value.replace('w', '\\x77'))}`],
      [`x=${encodeURIComponent(value.replace('.', '\\.'))}`],
      [`x=${encodeURIComponent(value.replace('w', '\\w'))}`],
      [`x=${encodeURIComponent(value.replace('n', '\\N'))}`],
      [`x=${encodeURIComponent(value.replace('w', '&#119;'))}`],
      [`x=${encodeURIComponent(value.replace('w', '&\\#119;'))}`],
      [`x=${encodeURIComponent(value.replace('w', '&amp;#x77;'))}`],
      ['', { 'x-note': 'at f (/home/alice/wonderland.js:7:1)' }],
      ['', { authorization: `Basic ${credentials}` }],
      ['', { authorization: `Basic\t${credentials}` }],
      ['', { 'proxy-authorization': credentials }],
    ]
    for (const [query, headers = {}] of requests) {
      const request = new HttpRequest({ target: `/?${query}&y=${TOO_LONG}`, headers })
      assert.deepEqual(forgedIn(request), ['[text(33)]', 'real.js:3:4'], query)
    }
    const json = new HttpRequest({ target: '/', method: 'POST' })
    stateOf(json).message.json = Buffer.from(JSON.stringify({ value, y: 'x'.repeat(100_000) }))
    assert.deepEqual(forgedIn(json), ['[text(33)]', 'real.js:3:4'])
    const forwarded = new HttpRequest({ target: `/?y=${TOO_LONG}` }).forward({
      action: 'list',
      params: { note: value },
    })
    assert.deepEqual(forgedIn(forwarded), ['[text(33)]', 'real.js:3:4'])
  })

  it('shows the locations of frames where the values are too long to be searched, if the client has not sent them', () => {
    const target = `/?x=%26y%3B%20%5Cn%C3%A9%2520%5Cu00e9%5Cu003c%252F&y=${TOO_LONG}`
    const headers = { authorization: 'Basic YWxpY2U6c2VjcmV0' }
    const usual = new HttpRequest({ target, headers })
    assert.deepEqual(forgedIn(usual, 'usual'), ['usual.js:7:1', 'real.js:3:4'])
  })

  it('shows the position of a frame in a file whose name may be a token, if the client has not sent its end', () => {
    const frames = (query: string, file: string): string | undefined =>
      forgedIn(new HttpRequest({ target: `/?${query}&y=${TOO_LONG}` }), file)?.[0]
    assert.equal(frames('x=CHUNK-b7x9qk2z.js', 'chunk-B7X9QK2Z'), '[text(37)]')
    assert.equal(frames('x=gr%C3%B6%C3%9Fe.js', 'größe'), '[text(28)]')
    assert.equal(frames('x=1', 'chunk-B7X9QK2Z'), 'file:7:1')
  })

  it('looks for the names of four files in a request that is too long to be searched', () => {
    const files = ['', 'valley', 'river', 'valley', 'river', 'ocean', 'desert', 'island']
    const frames = files.map((file, i) => `    at f (/srv/${file && `${file}.js`}:${i}:5)`)
    const error = new Error('x')
    error.stack = ['Error: x', ...frames.slice(1)].join('\n')
    const { stack } = report({ exceptions: [error] })
    const shown = ['valley', 'river', 'valley', 'river', 'ocean', 'desert'].map(
      (file, i) => `${file}.js:${i + 1}:5`,
    )
    assert.deepEqual(stack, [...shown, '[text(22)]'])
  })

  it('shows of a request with a longer body only frames whose location was shown before', () => {
    const frames = (length: number): readonly string[] | undefined => {
      const request = new HttpRequest({ target: '/', method: 'POST' })
      stateOf(request).message.json = Buffer.from(`"${'x'.repeat(length)}"`)
      return forgedIn(request, 'mountain')
    }
    assert.deepEqual(frames(150_000)?.[0], '[text(31)]')
    assert.deepEqual(frames(100_000)?.[0], 'mountain.js:7:1')
    assert.deepEqual(frames(150_000)?.[0], 'mountain.js:7:1')
  })

  it('masks a frame that a client has forged from the names of its Host', () => {
    const value = 'y\n    at /hostess.js:7:7'
    for (const headers of [
      { host: 'hostess.js:7' },
      { host: 'a', 'x-forwarded-server': 'hostess.js 7' },
    ]) {
      const request = new HttpRequest({ target: `/?x=${encodeURIComponent(value)}`, headers })
      const { stack } = report({ request, exceptions: [forged(value, 'No item y')] })
      assert.equal(stack?.[0], '[x]')
    }
  })

  it('shows no frame that a value of the first request has forged in a shared exception', async () => {
    const { reports, onReport } = collectReports()
    let shared: Error | undefined
    const list = (request: HttpRequest): never => {
      shared ??= forged(String(request.param('x')), 'The import failed')
      throw shared
    }
    const front = createFront({ news: { list } }, { onReport })
    const value = encodeURIComponent('y\n    at alice (/home/alice/diagnosis.js:7:1)')
    for (const [x, long] of [
      [value, ''],
      ['1', ''],
      ['1', TOO_LONG],
    ]) {
      const headers = { 'x-long': String(long) }
      await front.handle(new HttpRequest({ target: `/news/list?x=${x}`, headers }))
    }
    const frames = reports.map(({ stack }) => stack?.[0])
    assert.deepEqual(frames, ['[x]', '[value]', '[text(36)]'])
  })

  it('shows the places of frames of an exception with a hundred causes, but no forged one', () => {
    const value = 'y\n    at f (/home/alice/meadow.js:7:1)'
    const frames = (target: string): readonly string[] | undefined => {
      const request = new HttpRequest({ target })
      const errors = Array.from({ length: 120 }, () => new Error('x'))
      const exception = Object.assign(forged(value, 'failed'), { errors })
      return report({ request, exceptions: [exception] }).stack?.slice(0, 2)
    }
    assert.deepEqual(frames(`/?x=${encodeURIComponent(value)}`), ['[text(29)]', 'real.js:3:4'])
    assert.deepEqual(frames('/?x=1'), ['meadow.js:7:1', 'real.js:3:4'])
  })

  it('searches no values for a message that contains requested names only', () => {
    const target = `/?x=${TOO_LONG}`
    const request = new HttpRequest({ target }).forward({ controller: '', action: 'x' })
    const { name, message } = report({ request, exceptions: [new NoControllerError('')] })
    assert.deepEqual([name, message], ['NoControllerError', 'Invalid controller specified ()'])
  })
})
