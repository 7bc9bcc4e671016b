import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type ErrorReport,
  FrontController,
  HttpError,
  HttpRequest,
  NoRouteError,
  nested,
  type Router,
} from '../../lib/index.ts'
import { collectReports, subscribeToAll } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'

const VARIABLE = 'customer'

interface Shown {
  readonly report: ErrorReport | undefined
  readonly exception: string | undefined
  readonly detail: string
  readonly channel: string
}

async function handle(target: string, names: 'exact' | 'zf1' = 'exact'): Promise<Shown> {
  const reports: ErrorReport[] = []
  const messages: unknown[] = []
  const collect = (message: unknown): void => void messages.push(message)
  const news = {
    list(): void {
      throw new Error('boom')
    },
    // The name may come from a database or a body, which no report knows.
    away: (request: HttpRequest) => request.forward({ action: VARIABLE }),
    apart: (request: HttpRequest) => request.forward({ action: 'list', controller: VARIABLE }),
    moved: (request: HttpRequest) => request.forward({ action: 'list', controller: 'news' }),
  }
  const front = new FrontController({
    controllers: new Map([['news', news]]),
    names,
    onReport: (report) => void reports.push(report),
  })
  const end = subscribeToAll((_, message) => collect({ ...message }))
  const response = await front.handle(new HttpRequest({ target }))
  end()
  return {
    report: reports[0],
    exception: response.exceptions[0]?.message,
    detail: JSON.parse(String(response.body)).detail,
    channel: JSON.stringify(messages),
  }
}

describe('The names of a request', () => {
  it('are shown by their shapes in the response too, unless they look like names', async () => {
    for (const secret of [';code=c4n4ry', '0AfJohXkq9TzB3mWcR7Lp', '~c4n4ry']) {
      for (const target of [`/nosuch${secret}`, `/news/nosuch${secret}`]) {
        const { report, exception, detail, channel } = await handle(target)
        assert.match(exception ?? '', new RegExp(`nosuch${secret}`))
        assert.match(detail, /^(Invalid controller specified \(|Action ")token\(\d+\)/)
        assert.equal(report?.message, detail)
        assert.equal(channel.includes(secret), false)
      }
    }
    assert.equal((await handle('/signin/v2')).detail, 'Invalid controller specified (signin)')
  })

  it('are shown by their shapes if a forward took them from a variable', async () => {
    const action = await handle('/news/away')
    assert.equal(action.exception, `Action "${VARIABLE}" does not exist`)
    assert.equal(action.detail, 'Action "word(8)" does not exist')
    assert.deepEqual([action.report?.message, action.report?.action], [action.detail, 'word(8)'])
    const controller = await handle('/news/apart')
    assert.equal(controller.detail, 'Invalid controller specified (word(8))')
    assert.equal(controller.report?.controller, 'word(8)')
    assert.equal(`${action.channel}${controller.channel}`.includes(VARIABLE), false)
  })

  it('are shown by their shapes if a forward took them from another segment of the path', async () => {
    const reset = (request: HttpRequest): HttpRequest =>
      request.forward({ action: request.params.code ?? '' })
    const reports: ErrorReport[] = []
    const front = new FrontController({
      controllers: new Map([['news', { reset }]]),
      routes: {
        reset: { path: '/reset/:code', defaults: { controller: 'news', action: 'reset' } },
      },
      onReport: (report) => void reports.push(report),
    })
    const response = await front.handle(new HttpRequest({ target: '/reset/hunterpw' }))
    assert.equal(JSON.parse(String(response.body)).detail, 'Action "word(8)" does not exist')
    assert.equal(reports[0]?.action, 'word(8)')
    assert.doesNotMatch(JSON.stringify(reports), /hunterpw/)
  })

  it('are shown if a custom router took them from one of the first three segments, else by their shapes', async () => {
    const shownOf = async (target: string): Promise<string> => {
      const router: Router = {
        route: () => ({ module: 'default', controller: VARIABLE, action: 'index' }),
      }
      const front = new FrontController({ router })
      const response = await front.handle(new HttpRequest({ target }))
      return JSON.parse(String(response.body)).detail
    }
    const shown = `Invalid controller specified (${VARIABLE})`
    for (const path of [VARIABLE, `a/${VARIABLE}`, `a/b/${VARIABLE}`, `${VARIABLE}/a/b/c`]) {
      assert.equal(await shownOf(`/${path}`), shown)
    }
    for (const path of [
      '',
      'a',
      `a/b/c/${VARIABLE}`,
      `${VARIABLE}s`,
      `a/${VARIABLE}s/x`,
      'a//b/c',
    ]) {
      assert.equal(await shownOf(`/${path}`), 'Invalid controller specified (word(8))')
    }
  })

  it('are shown like the literals of a named route, but not if a value is the same', async () => {
    const view = (request: HttpRequest): never => {
      throw new HttpError(404, `No such note ${request.params.id}`)
    }
    const front = new FrontController({
      controllers: { notes: { view } },
      routes: { note: { path: '/note/:id', defaults: { controller: 'notes', action: 'view' } } },
    })
    for (const [target, detail] of [
      ['/note/hunterpw', 'No such note [path]'],
      ['/note/note', 'No such [path] [path]'],
      ['/note/hunterpw?a=note', 'No such [a] [path]'],
    ] as const) {
      const response = await front.handle(new HttpRequest({ target }))
      assert.equal(JSON.parse(String(response.body)).detail, detail)
    }
  })

  it('are shown if a route gives them, and no controller or action has them', async () => {
    const front = new FrontController({
      controllers: { news: {} },
      routes: {
        rest: { rest: { default: ['news'] } },
        users: { path: '/users', defaults: { controller: 'userAdmin' } },
        archive: { path: '/archive/:id', defaults: { controller: 'news', action: 'archiv' } },
      },
    })
    for (const [method, target, detail] of [
      ['GET', '/news/4', 'Action "get" does not exist'],
      ['POST', '/news', 'Action "post" does not exist'],
      ['PUT', '/news/4', 'Action "put" does not exist'],
      ['PATCH', '/news/4', 'Action "patch" does not exist'],
      ['DELETE', '/news/4', 'Action "delete" does not exist'],
      ['GET', '/users', 'Invalid controller specified (userAdmin)'],
      ['GET', '/archive/hunterpw', 'Action "archiv" does not exist'],
    ] as const) {
      const { body } = await front.handle(new HttpRequest({ method, target }))
      assert.equal(JSON.parse(String(body)).detail, detail)
    }
  })

  it('are shown behind the base path in the Referer of a page of this server', async () => {
    for (const basePath of ['', '/app', '/app/v2']) {
      const list = (): never => {
        throw new Error('Template news.html of app is missing')
      }
      const { onReport, reports } = collectReports()
      const front = createFront({ news: { list } }, { basePath, onReport })
      const headers = { host: 'a.test', referer: `http://a.test${basePath}/news/list` }
      await front.handle(new HttpRequest({ target: `${basePath}/news/list`, headers }))
      assert.equal(reports[0]?.message, 'Template news.html of app is missing')
    }
  })

  it('are shown like the literals of a named route in the Referer of a page of this server', async () => {
    const view = (): never => {
      throw new HttpError(404, 'There are no such articles')
    }
    const front = new FrontController({
      controllers: { news: { view } },
      routes: { a: { path: '/articles/:id', defaults: { controller: 'news', action: 'view' } } },
    })
    for (const [host, shown] of [
      ['a.test', 'There are no such articles'],
      ['b.test', 'There are no such word(8)'],
    ]) {
      const headers = { host: 'a.test', referer: `http://${host}/articles/1` }
      const { body } = await front.handle(new HttpRequest({ target: '/news/view', headers }))
      assert.equal(JSON.parse(String(body)).detail, shown)
    }
  })

  it('are shown if they are registered, also where a parameter has the same value', async () => {
    const { report } = await handle('/news/moved?a=list&b=news')
    assert.deepEqual([report?.controller, report?.action], ['news', 'list'])
  })

  it('are shown by their shapes in a spelling that no name has', async () => {
    const { report } = await handle('/n!e(w)s/l;i=st', 'zf1')
    assert.equal(report?.message, 'boom')
    assert.deepEqual([report?.controller, report?.action], ['token(7)', 'token(6)'])
  })

  it('are searched for in the message of a router that throws, and so is the rest of the path', async () => {
    const token = 'Kq7xZ9vT2mWpL4sBd8Yh'
    for (const text of ['path', 'target'] as const) {
      const shown = await routeBy(`/reset/user/token/${token}`, (request) => {
        throw new HttpError(400, `No page for ${request[text]}`)
      })
      assert.doesNotMatch(shown, /Kq7x/)
      assert.match(shown, /No page for /)
    }
  })

  it('are the only text of a request in the message of a missing route', async () => {
    const shown = await routeBy('/news/list?v=Kq7xZ9vT2mWpL4sBd8Yh', (request) => {
      throw Object.assign(new NoRouteError(), { message: `No route for ${request.target}` })
    })
    assert.match(shown, /No route for .*\[v\]/)
    assert.doesNotMatch(shown, /Kq7x/)
    const standard = await routeBy('/news/list?v=matched', () => undefined)
    assert.match(standard, /No route matched the request/)
  })
})

describe('A message that Portico wrote', () => {
  it('is shown as it is, whatever the values of the request are', async () => {
    const ownMessages: [target: string, message: string][] = [
      [`/?v=longer&w=${'x'.repeat(8_192)}`, 'The request target is longer than 8192 bytes'],
      ['/%ff?v=encoded', 'The path is not percent-encoded UTF-8'],
      [`/news/list/${'a/b/'.repeat(1_001)}`, 'The path has more than 1000 pairs'],
    ]
    for (const [target, message] of ownMessages) {
      const { detail, report } = await handle(target)
      assert.equal(detail, message)
      assert.equal(report?.message, message)
    }
  })

  it('is the only text of its error that is shown', async () => {
    const secret = 'Kq7xZ9vT2mWpL4sBd8Yh'
    const shown = await routeBy(`/news/list?v=${secret}`, () => {
      throw changed(secret)
    })
    assert.match(shown, /More than 1 values/)
    assert.doesNotMatch(shown, /Kq7x/)
  })
})

// An error of Portico that an application has changed.
function changed(secret: string): Error {
  try {
    nested(
      [
        ['a', '1'],
        ['b', '2'],
      ],
      { maxValues: 1 },
    )
  } catch (error) {
    return Object.assign(error as Error, { message: secret, cause: new Error(secret) })
  }
  throw new Error('Expected an error')
}

/** Returns the responses and the report of a request that a custom router routes. */
async function routeBy(target: string, route: Router['route']): Promise<string> {
  const reports: ErrorReport[] = []
  const front = new FrontController({
    controllers: new Map(),
    router: { route },
    onReport: (report) => void reports.push(report),
  })
  const response = await front.handle(new HttpRequest({ target }))
  return `${response.body} ${JSON.stringify(reports)}`
}
