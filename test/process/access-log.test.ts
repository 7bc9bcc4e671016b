import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Controllers,
  FrontController,
  HttpRequest,
  HttpResponse,
  withPublicFiles,
} from '../../lib/index.ts'
import { logAccess } from '../../lib/process/access-log.ts'
import { createFolder } from '../support/folder.ts'

async function logged(
  target: string,
  controllers: Controllers = new Map([['news', { list() {} }]]),
) {
  const calls: [fields: Record<string, unknown>, message: string][] = []
  const info = (...[fields, message]: [object, string]): void =>
    void calls.push([{ ...fields }, message])
  const logger = { info, warn: assert.fail, error: assert.fail }
  const request = new HttpRequest({ target })
  const response = await new FrontController({ controllers }).handle(request)
  logAccess(logger, {
    method: 'GET',
    response,
    route: response.request?.route ?? null,
    bytes: 42,
    durationMs: 1.26,
  })
  assert.equal(calls.length, 1)
  assert.equal(calls[0]?.[0].id, request.id)
  delete calls[0]?.[0].id
  return calls[0]
}

describe('logAccess()', () => {
  it('logs the id of the request, method, names, status, duration and bytes', async () => {
    assert.deepEqual(await logged('/news/list/id/CANARY?dsh=CANARY'), [
      {
        event: 'access',
        method: 'GET',
        module: 'default',
        controller: 'news',
        action: 'list',
        route: 'news/list',
        status: 200,
        durationMs: 1.3,
        bytes: 42,
      },
      '200 GET default/news/list',
    ])
  })

  it('logs the requested names for an error', async () => {
    const [fields, message] = (await logged('/signin/v2/identifier?dsh=CANARY')) ?? []
    assert.deepEqual(Object.values(fields ?? {}).slice(2, 7), [
      'default',
      'signin',
      'v2',
      null,
      404,
    ])
    assert.equal(message, '404 GET default/signin/v2')
  })

  it('logs the shape of a segment that does not look like a name', async () => {
    const [fields, message] = (await logged('/0AfJohXkq9TzB3mWcR7Lp/%0a')) ?? []
    assert.equal(message, '400 GET default/token(21)/token(3)')
    assert.deepEqual(Object.values(fields ?? {}).slice(3, 5), ['token(21)', 'token(3)'])
  })

  it('logs the shape of a value that an action used as a name', async () => {
    const go = (request: HttpRequest) => request.forward({ action: request.param('to') ?? '' })
    const controllers = new Map([['news', { go, login() {} }]])
    const value = 'correct-horse-battery'
    for (const target of [
      `/news/go?to=${value}`,
      `/news/go/to/${value}`,
      `/default/news/go/to/${value}`,
    ]) {
      const [, message] = (await logged(target, controllers)) ?? []
      assert.match(message ?? '', /^404 GET default\/news\/(go|word\(21\))$/, target)
    }
    const login = (request: HttpRequest) => request.forward({ action: 'login' })
    const [, message] =
      (await logged('/news/go', new Map([['news', { go: login, login() {} }]]))) ?? []
    assert.equal(message, '200 GET default/news/login')
  })

  it('marks a public file, without its path', async (t) => {
    const front = new FrontController({ controllers: { news: { list() {} } } })
    const handler = withPublicFiles(front, createFolder(t, { 'site.css': 'a' }))
    const lines: unknown[] = []
    const info = (...[fields, message]: [object, string]): void => {
      const { public: isPublic, controller } = fields as Record<string, unknown>
      lines.push([isPublic, controller, message])
    }
    for (const target of ['/site.css', '/news/list']) {
      const request = new HttpRequest({ target })
      const response = await handler.handle(request)
      response.request ??= request
      const logger = { info, warn: assert.fail, error: assert.fail }
      logAccess(logger, { method: 'GET', response, route: null, bytes: 1, durationMs: 1 })
    }
    assert.deepEqual(lines, [
      [true, '', '200 GET public file'],
      [undefined, 'news', '200 GET default/news/list'],
    ])
  })

  it('logs empty names for a response that no front controller created', () => {
    const messages: string[] = []
    const info = (_: object, message: string): void => void messages.push(message)
    const logger = { info, warn: assert.fail, error: assert.fail }
    logAccess(logger, {
      method: 'PUT',
      response: new HttpResponse(),
      route: null,
      bytes: 0,
      durationMs: 0,
    })
    assert.deepEqual(messages, ['200 PUT'])
  })
})
