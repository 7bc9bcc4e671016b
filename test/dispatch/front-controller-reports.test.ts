import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stateOf } from '../../lib/http/request.ts'
import {
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
  type HttpResponse,
} from '../../lib/index.ts'
import { collectLog, collectReports } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'
import { createWatchedFront, fail, handleWith, namesOf } from '../support/loop.ts'

// Sends a request to an action that throws, with an error action, and collects what is logged and reported.
function createErrors(error: (request: HttpRequest, response: HttpResponse) => void) {
  return async (exception: Error, query: string) => {
    const { reports, onReport } = collectReports()
    const { entries, logger } = collectLog()
    const list = (): never => {
      throw exception
    }
    const front = createFront({ news: { list }, error: { error } }, { logger, onReport })
    await front.handle(new HttpRequest({ target: `/news/list${query}` }))
    return { entries, reports }
  }
}

describe('FrontController.handle() with a logger and onReport', () => {
  it('gives the response its request, with the requested names', async () => {
    const { front } = createWatchedFront({ list() {}, fails: fail })
    const requestedNames = async (target: string): Promise<string[]> => {
      const { request } = await front.handle(new HttpRequest({ target }))
      return request ? namesOf(request) : []
    }
    assert.deepEqual(await requestedNames('/news/list'), ['default', 'news', 'list'])
    assert.deepEqual(await requestedNames('/news/fails'), ['default', 'news', 'fails'])
    assert.deepEqual(await requestedNames('/signin/v2'), ['default', 'signin', 'v2'])
    const twice = await handleWith({ list: fail }, { error: fail })
    assert.deepEqual(twice.request && namesOf(twice.request), ['default', 'news', 'list'])
  })

  it('reports an error once, under the id in the response, without a value', async () => {
    const { reports, onReport } = collectReports()
    const { entries, logger } = collectLog()
    const options = { logger, logParams: ['page'], onReport }
    const front = createFront({ news: { list() {} } }, options)
    const target = '/signin/v2/CANARY?dsh=CANARY&page=2'
    const { body } = await front.handle(new HttpRequest({ target }))
    await front.handle(new HttpRequest({ target: '/news/list' }))
    const [report] = reports
    assert.equal(JSON.parse(String(body)).instance, `urn:uuid:${report?.id}`)
    assert.deepEqual(
      [reports.length, report?.controller, report?.status, { ...report?.params }],
      [1, 'signin', 404, { dsh: 'word(6)', page: '2' }],
    )
    assert.deepEqual(
      entries.map(({ level }) => level),
      ['warn'],
    )
    assert.ok((report?.durationMs ?? -1) >= 0)
    assert.doesNotMatch(JSON.stringify([reports, entries, body]), /CANARY/)
  })

  it('reports a fault as a fault if the error action redirects the client or sends a page with 200', async () => {
    const error = (request: HttpRequest, response: HttpResponse): void => {
      if (request.query.has('page')) response.text('oops')
      else response.redirect('/oops')
      if (request.query.has('lost')) response.status = 404
    }
    const errors = createErrors(error)
    for (const query of ['', '?page']) {
      const { entries, reports } = await errors(new TypeError('boom'), query)
      assert.equal(entries[0]?.level, 'error')
      assert.ok(Array.isArray(entries[0]?.fields.stack))
      assert.equal(reports[0]?.status, 500)
    }
    const rejected = await errors(new HttpError(403), '')
    assert.equal(rejected.entries[0]?.level, 'warn')
    assert.deepEqual(
      [rejected.entries[0]?.fields.stack, rejected.reports[0]?.status],
      [undefined, 403],
    )
    // An error action may decide that an exception is no fault.
    const { entries } = await errors(new TypeError('boom'), '?lost')
    assert.deepEqual([entries[0]?.level, entries[0]?.fields.status], ['warn', 404])
  })

  it('shows no value that an action has added to the secrets of its message', async () => {
    const { reports, onReport } = collectReports()
    const secrets = ['CANARY-1', [{ email: 'CANARY-2', id: 71234567 }]]
    const list = (request: HttpRequest): never => {
      stateOf(request).message.hide(...secrets)
      throw new HttpError(403, 'CANARY-1, CANARY-2 and 71234567 may not')
    }
    const { body } = await createFront({ news: { list } }, { onReport }).handle(
      new HttpRequest({ target: '/news/list' }),
    )
    assert.equal(reports.length, 1)
    assert.match(String(body), /"status":403/)
    assert.doesNotMatch(JSON.stringify([reports, body]), /CANARY|71234567/)
  })

  it('lets an action change the headers of the response to its error, whatever responds', async () => {
    const list = (request: HttpRequest): never => {
      stateOf(request).message.ending = { finish: (headers) => headers.set('Cache-Control', 'x') }
      throw new Error('a fault')
    }
    for (const error of [undefined, () => {}, fail]) {
      const controllers = { news: { list }, ...(error && { error: { error } }) }
      const front = createFront(controllers, { headers: { 'Cache-Control': 'y' } })
      const { headers } = await front.handle(new HttpRequest({ target: '/news/list' }))
      assert.equal(headers.get('Cache-Control'), 'x')
    }
  })

  it('reports a second error with both exceptions', async () => {
    const { reports, onReport } = collectReports()
    const error = (): never => {
      throw new TypeError('second')
    }
    await handleWith({ list: fail }, { error }, { onReport })
    assert.deepEqual(
      reports.map(({ status, message, second }) => [
        status,
        message,
        second?.name,
        second?.message,
      ]),
      [[500, 'raised', 'TypeError', 'second']],
    )
  })

  it('reports for a sign-in whether a controller serves its redirect_uri', async () => {
    const { reports, onReport } = collectReports()
    const routes = { login: { path: '/login', host: 'a.example', defaults: { controller: 'elp' } } }
    const front = createFront({ elp: {} }, { onReport, basePath: '/app', routes })
    for (const path of ['/app/elp/oauth.php', '/app/login', '/app/error/x', '/app/no', '/app/%z']) {
      const uri = encodeURIComponent(`https://a.example${path}?provider=x`)
      const target = `/app/auth?client_id=1&response_type=code&redirect_uri=${uri}`
      await front.handle(new HttpRequest({ target, headers: { host: 'a.example' } }))
    }
    const named = 'The redirect_uri names a path of this service that no controller serves'
    assert.deepEqual(
      reports.map(({ hint }) => hint === named),
      [false, false, true, true, true],
    )
  })

  it('shows the error and its place on the page in development', async () => {
    const list = (): never => {
      throw new Error('it was CANARY', { cause: new Error('because') })
    }
    const headers = { accept: 'text/html' }
    const page = async (target: string, development: boolean): Promise<string> => {
      const front = createFront({ news: { list, saveAll() {} } }, { development })
      return String((await front.handle(new HttpRequest({ target, headers }))).body)
    }
    const fault = await page('/news/list?dsh=CANARY', true)
    for (const part of [
      '<h1>it was [dsh]</h1>',
      '<p><strong>Error</strong> <small>EXCEPTION_OTHER',
      'front-controller-reports.test.js:',
      '<h2>Caused by</h2><p class="message"><strong>Error: because</strong>',
      'GET default/news/list</p>',
      '<dt>dsh</dt><dd>word(6)</dd>',
      '<li><a href="/news/save-all">/news/save-all</a> <small>news/save-all</small></li>',
    ]) {
      assert.ok(fault.includes(part), part)
    }
    assert.doesNotMatch(fault, /CANARY|Did you mean/)
    assert.match(await page('/nwes/list', true), /Did you mean <a href="\/news\/list">/)
    assert.doesNotMatch(await page('/nwes/list', false), /EXCEPTION|Did you mean|save-all/)
  })

  describe('in development, with an error controller of the application', () => {
    const controllers = {
      news: {
        list() {
          throw new Error('boom')
        },
      },
      error: { error: (_: HttpRequest, response: HttpResponse) => response.text('own') },
    }
    const respond = (options: FrontControllerOptions): Promise<HttpResponse> => {
      const headers = { accept: 'text/html' }
      return createFront(controllers, options).handle(
        new HttpRequest({ target: '/news/list', headers }),
      )
    }

    it('shows what failed in place of its page', async () => {
      const { status, body } = await respond({ development: true })
      assert.equal(status, 500)
      assert.match(String(body), /<h1>boom<\/h1>/)
    })

    it('runs it in production', async () => {
      assert.equal((await respond({})).body, 'own')
      assert.equal((await respond({ development: false })).body, 'own')
    })

    it('still rejects one that cannot be registered', () => {
      const error = Object.assign(() => {}, { method: 'GET' })
      assert.throws(() => createFront({ error: { error } }, { development: true }), TypeError)
    })
  })
})

describe('FrontController.report()', () => {
  it('reports an error from outside of the loop, and without a request only the known words of its message', () => {
    const { reports, onReport } = collectReports()
    const front = createFront({}, { onReport })
    const request = new HttpRequest({ target: '/x?dsh=CANARY' })
    front.report(new Error('it was CANARY'))
    front.report(null)
    front.report(new Error('it was CANARY'), { request, status: 408 })
    assert.deepEqual(
      reports.map(({ message, status, method }) => [message, status, method]),
      [
        ['it was word(6)', 500, ''],
        ['null was thrown', 500, ''],
        ['it was [dsh]', 408, 'GET'],
      ],
    )
    assert.equal(reports[2]?.id, request.id)
  })
})

describe('FrontController.flush()', () => {
  it('logs the number of errors that were only counted', async () => {
    const { entries, logger } = collectLog()
    const front = createFront({}, { logger })
    for (let i = 0; i < 3; i++) await front.handle(new HttpRequest({ target: '/nope' }))
    front.flush()
    front.flush()
    assert.deepEqual(
      entries.map(({ level }) => level),
      ['warn', 'warn'],
    )
    assert.deepEqual(entries.slice(1), [
      {
        level: 'warn',
        fields: {
          event: 'errors',
          total: 2,
          kinds: { 'EXCEPTION_NO_CONTROLLER default nope index': 2 },
        },
        message: '2 more errors',
      },
    ])
  })
})
