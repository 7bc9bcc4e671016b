import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpError, MalformedMessageError, NoControllerError } from '../../lib/http/errors.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { isRejection } from '../../lib/reporting/failure.ts'
import { fingerprintOf } from '../../lib/reporting/fingerprint.ts'
import { SignInError } from '../../lib/reporting/sign-in-hint.ts'
import { collectReports } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'

const requestFor = (controller: string, action: string): HttpRequest =>
  new HttpRequest({ target: `/${controller}/${action}` }).forward({ controller, action })
const request = requestFor('news', 'list')

const broken = (frames: readonly string[], properties: object = {}): Error =>
  Object.assign(new TypeError('boom'), {
    stack: ['TypeError: boom', ...frames.map((frame) => `    at ${frame}`)].join('\n'),
    ...properties,
  })

class S3ServiceException extends Error {}
class YAMLException extends Error {
  override readonly name = 'YAMLException'
}

describe('fingerprintOf()', () => {
  it('has type, name, first frame of the application, controller and action of a fault', () => {
    const exception = broken([
      'Object.parse (/srv/node_modules/zod/index.js:1:1)',
      'node:internal/timers:1:1',
      'read (file:///srv/app/store.js:7:3)',
      'list (file:///srv/app/news.js:12:9)',
    ])
    assert.equal(
      fingerprintOf({ exceptions: [exception], status: 500, request }),
      'EXCEPTION_OTHER TypeError store.js:7:3 news/list',
    )
  })

  it('is equal for one fault, and differs for another line or class', () => {
    const fault = (line: number, name = 'TypeError'): string => {
      const exception = broken([`list (file:///srv/app/news.js:${line}:9)`], { name })
      return fingerprintOf({ exceptions: [exception], status: 500, request })
    }
    assert.equal(fault(1), fault(1))
    assert.equal(new Set([fault(1), fault(2), fault(1, 'RangeError')]).size, 3)
  })

  it('is equal for all spellings of a name, and for tokens of all lengths', () => {
    const exceptions = [broken([])]
    const of = (controller: string, action: string): string =>
      fingerprintOf({ exceptions, status: 500, request: requestFor(controller, action) })
    assert.equal(of('News', 'li.st'), of('news', 'list'))
    assert.equal(of('news', '0AfJohXkq9TzB3mWcR7Lp'), of('news', '0BxKpiYlr8UaC4nXdS6Mq7'))
  })

  it('has provider and step of a sign-in that failed, before the names', () => {
    const of = (status: number): string => {
      const facts = { provider: 'google', step: 'token', fault: 'too late' }
      const exceptions = [new SignInError(status, 'The sign-in failed', facts)]
      return fingerprintOf({ exceptions, status, request })
    }
    // The location is that of this test.
    assert.match(of(504), /^EXCEPTION_OTHER SignInError \S+ google\/token news\/list$/)
    assert.equal(of(400), 'EXCEPTION_OTHER 400 google/token default news list')
  })

  it('contains no name of a class or of a file that may be a value', () => {
    const exception = broken(['S3cret9x (S3cret9x:1:1)', 'x (file:///a/S3cret9x:1:1)'], {
      name: 'S3cret9x',
    })
    assert.equal(
      fingerprintOf({ exceptions: [exception], status: 500, request }),
      'EXCEPTION_OTHER TypeError news/list',
    )
  })

  it('contains no location of a stack that the application took from the request', () => {
    const location = 'tpl.js:4929:111'
    const exception = broken([`x (/srv/${location})`])
    const request = new HttpRequest({ target: `/news/list?at=${location}` })
    const sent = { exceptions: [exception], status: 500, request }
    assert.equal(fingerprintOf(sent), 'EXCEPTION_OTHER TypeError /')
    const other = { ...sent, request: requestFor('news', 'list') }
    const another = broken([`x (/srv/${location})`])
    assert.match(fingerprintOf({ ...other, exceptions: [another] }), / tpl\.js:4929:111 /)
  })

  it('contains no frame that a message may contain', () => {
    const forged = 'x\n    at hunterpw (/srv/hunterq.js:1:1)'
    for (const message of [`wrapped: bad ${forged}`, 'replaced']) {
      const exception = new Error(`bad ${forged}`)
      exception.message = message
      const fingerprint = fingerprintOf({ exceptions: [exception], status: 500, request })
      assert.match(
        fingerprint,
        /^EXCEPTION_OTHER Error (fingerprint\.test\.js:\d+:\d+ )?news\/list$/,
      )
    }
  })

  it('has the name of an exception; that of its class, if the name is none or a value of the request', () => {
    class ZodError extends Error {
      override readonly name = 'ZodError'
    }
    const table: [exception: Error, name: string][] = [
      [new ZodError('x'), 'ZodError'],
      [Object.assign(new Error('x'), { name: 'TimeoutError' }), 'TimeoutError'],
      [Object.assign(new S3ServiceException('x'), { name: 'NoSuchBucket' }), 'NoSuchBucket'],
      [Object.assign(new S3ServiceException('x'), { name: 'Kq7xZ9vT2mWp' }), 'S3ServiceException'],
      [Object.assign(new YAMLException('x'), { name: 'hunterpw' }), 'YAMLException'],
      [new YAMLException('x'), 'YAMLException'],
    ]
    for (const [exception, name] of table) {
      const request = new HttpRequest({ target: '/news/list?password=hunterpw' })
      const fingerprint = fingerprintOf({ exceptions: [exception], status: 500, request })
      assert.equal(fingerprint.split(' ')[1], name)
    }
  })

  it('has no name that is a value, although another request has shown it', () => {
    const names = ['?x=1', '?password=hunterpw'].map((query) => {
      const request = new HttpRequest({ target: `/news/list${query}` })
      const exceptions = [Object.assign(new TypeError('x'), { name: 'hunterpw' })]
      return fingerprintOf({ exceptions, status: 500, request }).split(' ')[1]
    })
    assert.deepEqual(names, ['hunterpw', 'TypeError'])
  })

  it('has the class of an exception without a request', () => {
    const exceptions = [Object.assign(new TypeError('x'), { name: 'NoSuchKey' })]
    assert.match(fingerprintOf({ exceptions, status: 500 }), /^EXCEPTION_OTHER TypeError /)
  })

  it('has no frame that a client has forged, however long its request is', () => {
    const lengths = { garden: 0, orchard: 100_000 }
    const fingerprints = Object.entries(lengths).map(([file, length]) => {
      const value = `y\n    at f (/home/alice/${file}.js:7:1)`
      const target = `/?x=${encodeURIComponent(value)}&long=${'x'.repeat(length)}`
      const exception = new TypeError('No item y')
      exception.stack = `TypeError: No item ${value}\n    at list (file:///srv/app/news.js:3:1)`
      const request = new HttpRequest({ target })
      return fingerprintOf({ exceptions: [exception], status: 500, request })
    })
    assert.deepEqual(new Set(fingerprints), new Set(['EXCEPTION_OTHER TypeError /']))
  })

  it('tells the actions of two modules', async () => {
    const { reports, onReport } = collectReports()
    const controllers = {
      index: {
        index() {
          throw new TypeError('broken')
        },
      },
    }
    const modules = { admin: controllers }
    const front = createFront(controllers, { modules, onReport })
    for (const target of ['/', '/index/index', '/admin', '/admin/index/index'])
      await front.handle(new HttpRequest({ target }))
    const names = reports.map(({ fingerprint }) => fingerprint.split(' ').at(-1))
    assert.deepEqual(names, [
      'index/index',
      'index/index',
      'admin/index/index',
      'admin/index/index',
    ])
  })

  it('has the registered names of an action under all their spellings', async () => {
    const { reports, onReport } = collectReports()
    const fail = (error: Error) => () => {
      throw error
    }
    const actions = { listAll: fail(new Error('boom')), denyAll: fail(new HttpError(403, 'no')) }
    const front = createFront({ 'my-news': actions }, { names: 'zf1', onReport })
    for (const action of [
      'list-all',
      'list.all',
      'list--all',
      'list!-a_ll',
      'deny-all',
      'deny.all',
    ]) {
      for (const controller of ['my-news', 'My.news', 'my-news-'])
        await front.handle(new HttpRequest({ target: `/${controller}/${action}` }))
    }
    const fingerprints = new Set(reports.map(({ fingerprint }) => fingerprint))
    assert.deepEqual(
      Array.from(fingerprints, (fingerprint) => fingerprint.replace(/ \S+:\d+:\d+/, '')),
      ['EXCEPTION_OTHER Error my-news/list-all', 'EXCEPTION_OTHER 403 default my-news deny-all'],
    )
  })

  it('has no names for a fault of a hook without an action, whatever names a client makes up', async () => {
    const { onReport, reports } = collectReports()
    const preDispatch = (): never => {
      throw new TypeError('broken')
    }
    const front = createFront({ news: { list() {} } }, { onReport, plugins: [{ preDispatch }] })
    for (const target of ['/one/two', '/news/made-up', '/three', '/news/list']) {
      await front.handle(new HttpRequest({ target }))
    }
    const names = reports.map(({ fingerprint }) => fingerprint.replace(/\S+:\d+:\d+/, 'file'))
    const fault = 'EXCEPTION_OTHER TypeError file'
    assert.deepEqual(names, [fault, fault, fault, `${fault} news/list`])
  })

  it('has the registered name of `__call`, whatever names a client makes up', async () => {
    const { reports, onReport } = collectReports()
    const __call = (request: HttpRequest): void => {
      throw request.action === 'deny' ? new HttpError(403) : new Error('boom')
    }
    const front = createFront({ magic: { __call } }, { onReport })
    for (const action of ['a', 'list', 'deny'])
      await front.handle(new HttpRequest({ target: `/magic/${action}` }))
    const names = reports.map(({ fingerprint }) => fingerprint.replace(/ \S+:\d+:\d+/, ''))
    const fault = 'EXCEPTION_OTHER Error magic/__call'
    assert.deepEqual(names, [fault, fault, 'EXCEPTION_OTHER 403 default magic __call'])
  })

  it('tells rejections of one action by their status', async () => {
    const { reports, onReport } = collectReports()
    const save = (request: HttpRequest): never => {
      throw new HttpError(Number(request.param('status')))
    }
    const front = createFront({ news: { save } }, { onReport })
    for (const status of [415, 413, 413])
      await front.handle(new HttpRequest({ target: `/news/save?status=${status}` }))
    assert.deepEqual(
      reports.map(({ fingerprint }) => fingerprint),
      [415, 413, 413].map((status) => `EXCEPTION_OTHER ${status} default news save`),
    )
  })

  it('has a frame of the application that is in no file with a name, and skips generated code', () => {
    const table: [frames: string[], location: string][] = [
      [['list (file:///srv/dist/chunk-5XK3Q2ZB.js:7:3)'], 'file:7:3'],
      ...['[id]', '+server', '(group)', 'größe', "it's", 'a b'].map((name): [string[], string] => [
        [`list (file:///srv/app/${name}.mjs:7:9)`],
        'file:7:9',
      ]),
      [['eval (lodash.templateSources[0]:9:11)', 'list (file:///srv/news.js:7:4)'], 'news.js:7:4'],
      [
        [
          ...Array.from({ length: 8 }, (_, i) => `f (/srv/node_modules/yaml/a.js:${i}:1)`),
          'list (/srv/news.js:7:5)',
        ],
        'news.js:7:5',
      ],
    ]
    for (const [frames, location] of table) {
      const fingerprint = fingerprintOf({ exceptions: [broken(frames)], status: 500, request })
      assert.equal(fingerprint, `EXCEPTION_OTHER TypeError ${location} news/list`)
    }
  })

  it('has a frame, also if the name of the class contains the message', () => {
    for (const message of ['Error', 'Type', 'e', 'TypeError']) {
      const exceptions = [new TypeError(message)]
      assert.match(fingerprintOf({ exceptions, status: 500, request }), / fingerprint\.test\.js:/)
    }
  })

  it('has type and names of a rejection', () => {
    const failure = { exceptions: [new NoControllerError('news')], status: 404, request }
    assert.equal(fingerprintOf(failure), 'EXCEPTION_NO_CONTROLLER default news list')
  })

  it('has the status of a rejection without a request', () => {
    const of = (status: number): string =>
      fingerprintOf({ exceptions: [new MalformedMessageError(status, 'X')], status })
    assert.match(of(408), /^EXCEPTION_OTHER MalformedMessageError .*408$/)
    assert.notEqual(of(400), of(408))
  })

  it('is that of the error action if that failed too', () => {
    const second = broken(['error (file:///srv/app/error.js:3:1)'])
    const failure = { exceptions: [new NoControllerError('x'), second], status: 500, request }
    assert.equal(fingerprintOf(failure), 'EXCEPTION_OTHER TypeError error.js:3:1 error/error')
  })

  it('needs no request and no stack', () => {
    const exception = Object.assign(new Error('boom'), { stack: undefined })
    assert.equal(fingerprintOf({ exceptions: [exception], status: 500 }), 'EXCEPTION_OTHER Error')
  })
})

describe('isRejection()', () => {
  it('is true for an error of the client, and false for a failure of the error action', () => {
    const rejected = new HttpRequest({ target: '/', rejection: new HttpError(501, 'x') })
    const error = new Error('x')
    assert.ok(isRejection({ exceptions: [error], status: 404 }))
    const own = rejected.rejection ?? error
    assert.ok(isRejection({ exceptions: [own], status: 501, request: rejected }))
    assert.ok(!isRejection({ exceptions: [error], status: 500, request: rejected }))
    // A handler may give a request a fault of its own.
    assert.ok(!isRejection({ exceptions: [own], status: 502, request: rejected }))
    assert.ok(!isRejection({ exceptions: [], status: 500, request }))
    assert.ok(isRejection({ exceptions: [new MalformedMessageError(505, 'X')], status: 505 }))
    assert.ok(!isRejection({ exceptions: [error], status: 500, request }))
    assert.ok(!isRejection({ exceptions: [new HttpError(404, 'x'), error], status: 500, request }))
    assert.ok(!isRejection({ exceptions: [error, error], status: 500, request: rejected }))
  })
})
