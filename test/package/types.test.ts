import { describe, it } from 'node:test'
import {
  type Action,
  type ErrorHandler,
  FrontController,
  HttpRequest,
  HttpResponse,
  type Plugin,
} from '../../lib/index.ts'

// What stands here compiles, or fails to where a line says so: tsc is the test, node only runs it.
describe('The types', () => {
  const request = new HttpRequest({ target: '/news/list' })
  const response = new HttpResponse()

  it('know what a parameter is', () => {
    const controller: string = request.param('controller')
    const handler: ErrorHandler | undefined = request.param('error_handler')
    const id: string | undefined = request.param('id')
    // @ts-expect-error a parameter may be absent
    const present: string = request.param('id')
    void [controller, handler, id, present]
  })

  it('know what a URL is made from', () => {
    const urls = (): string[] => [
      request.url(),
      request.url({ controller: 'news', action: 'view', id: 42, tag: ['a', 'b'], page: null }),
      request.url({ id: '42' }, { name: 'article', reset: true, encode: false }),
    ]
    const misuses = () => {
      // @ts-expect-error a name is text
      request.url({ controller: 42 })
      // @ts-expect-error a value is text or a number
      request.url({ id: {} })
      // @ts-expect-error there is no such option
      request.url({}, { absolute: true })
      // @ts-expect-error a route has a path
      new FrontController({ routes: { article: { defaults: { controller: 'news' } } } })
    }
    void [urls, misuses]
  })

  it('let an action return nothing, a request, or a promise of those', () => {
    const actions: Action[] = [
      () => {},
      async () => {},
      (given) => given.forward({ action: 'list' }),
      async (given) => given.forward({ action: 'list' }),
    ]
    // @ts-expect-error an answer is filled in, not returned
    const wrong: Action = () => 'text'
    void [actions, wrong]
  })

  it('keep a request as it came', () => {
    const changes = () => {
      // @ts-expect-error a request is read, never changed
      request.method = 'POST'
      // @ts-expect-error a header of a request is read, never changed
      request.headers.host = 'other'
      // @ts-expect-error the exceptions are the loop's to record
      response.exceptions.push(new Error())
    }
    void changes
  })

  it('refuse a body that can not be sent, and an option that does not exist', () => {
    const misuses = () => {
      // @ts-expect-error a number is no body
      response.body = 42
      // @ts-expect-error there is no such rule of names
      new FrontController({ names: 'loose' })
      // @ts-expect-error a forward needs an action
      request.forward({ controller: 'news' })
      // @ts-expect-error there are six moments, and this is none of them
      const plugin: Plugin = { beforeAll() {} }
      void plugin
    }
    void misuses
  })
})
