import { describe, it } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import {
  type Action,
  type Controller,
  defineController,
  type ErrorHandler,
  FrontController,
  get,
  HttpRequest,
  HttpResponse,
  type InferOutput,
  methods,
  type ParamsAction,
  type Plugin,
  post,
  type StandardSchemaV1,
  validateParams,
  withParams,
} from '../../lib/index.ts'

// tsc is the test: each line compiles, or fails below a @ts-expect-error. Node only runs the rest.

// Whether two types are the same. Distinguishes `any` from other types.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

function same<A, B>(_isSame: Same<A, B>): void {}

describe('The types', () => {
  const request = new HttpRequest({ target: '/news/list' })
  const response = new HttpResponse()

  it('give a parameter its type', () => {
    const controller: string = request.param('controller')
    const handler: ErrorHandler | undefined = request.param('error_handler')
    const id: string | undefined = request.param('id')
    // @ts-expect-error a parameter may be absent
    const present: string = request.param('id')
    void [controller, handler, id, present]
  })

  it('accept the parts of a URL', () => {
    const urls = (): string[] => [
      request.urlFor(),
      request.urlFor({ controller: 'news', action: 'view', id: 42, tag: ['a', 'b'], page: null }),
      request.urlFor({ id: '42' }, { name: 'article', reset: true, encode: false }),
    ]
    const misuses = () => {
      // @ts-expect-error a name is text
      request.urlFor({ controller: 42 })
      // @ts-expect-error a value is text or a number
      request.urlFor({ id: {} })
      // @ts-expect-error there is no such option
      request.urlFor({}, { absolute: true })
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
    // @ts-expect-error an action writes to the response, and returns no content
    const wrong: Action = () => 'text'
    void [actions, wrong]
  })

  it('let the limits and the methods of an action be set', () => {
    const save: Action = post(() => {})
    save.limits = { maxBodyBytes: 10 }
    save.methods = ['POST', 'PUT']
    function upload(): void {}
    upload.limits = { maxFields: 10, timeoutMs: 10 }
    const misuses = () => {
      // @ts-expect-error there is no such limit
      save.limits = { maxBody: 10 }
      // @ts-expect-error methods are a list
      save.methods = 'POST'
    }
    void ([save, upload] satisfies Action[])
    void misuses
  })

  it('make a request read-only', () => {
    const changes = () => {
      // @ts-expect-error a request is read-only
      request.method = 'POST'
      // @ts-expect-error the headers of a request are read-only
      request.headers.host = 'other'
      // @ts-expect-error only the loop records exceptions
      response.exceptions.push(new Error())
    }
    void changes
  })

  it('reject a body that cannot be sent, and an unknown option', () => {
    const misuses = () => {
      // @ts-expect-error a number is no body
      response.body = 42
      // @ts-expect-error there is no such rule of names
      new FrontController({ names: 'loose' })
      // @ts-expect-error a forward needs an action
      request.forward({ controller: 'news' })
      // @ts-expect-error no hook has this name
      const plugin: Plugin = { beforeAll() {} }
      void plugin
    }
    void misuses
  })
})

describe('The types of parameters', () => {
  const request = new HttpRequest({ target: '/news/list' })

  it('know the types of the reserved names', () => {
    const [module, controller] = [request.param('module'), request.param('controller')]
    const [action, q] = [request.param('action'), request.param('q')]
    const [handler, id] = [request.param('error_handler'), request.param('id')]
    same<typeof module | typeof controller | typeof action | typeof q, string>(true)
    same<typeof handler, ErrorHandler | undefined>(true)
    same<typeof id, string | undefined>(true)
  })

  it('are those of client parameters if the name is known only at run time', () => {
    const name: string = 'id'
    const value = request.param(name)
    same<typeof value, string | undefined>(true)
    const either: 'id' | 'module' = Math.random() < 2 ? 'id' : 'module'
    const one = request.param(either as 'id' | 'module')
    same<typeof one, string | undefined>(true)
  })
})

describe('The types of defineController()', () => {
  it('give every action the types of its parameters', () => {
    const news = defineController({
      list: (request, response) => {
        same<typeof request, HttpRequest>(true)
        same<typeof response, HttpResponse>(true)
      },
      async view(request, response) {
        same<typeof request, HttpRequest>(true)
        same<typeof response, HttpResponse>(true)
      },
      save: post((request, response) => {
        same<typeof request, HttpRequest>(true)
        same<typeof response, HttpResponse>(true)
      }),
      edit: methods(['GET', 'POST'], async (request) => request.forward({ action: 'list' })),
    })
    same<Parameters<typeof news.list>, [request: HttpRequest, response: HttpResponse]>(true)
    const controller: Controller = news
    const front = new FrontController({ controllers: new Map([['news', news]]) })
    void [controller, front]
  })

  it('give `this` the type of the shared state', () => {
    const counter = defineController({
      count: 0,
      seen: new Map<string, number>(),
      increment(request, response) {
        same<typeof this.count, number>(true)
        this.count++
        this.seen.set(request.action, this.count)
        response.json({ count: this.count })
      },
    })
    same<typeof counter.count, number>(true)
  })

  it('reject what is no action', () => {
    const misuses = () => [
      // @ts-expect-error an action writes to the response, and returns no content
      defineController({ list: () => 'text' }),
      // @ts-expect-error an action writes to the response, and returns no content
      defineController({ list: async () => ({ news: [] }) }),
      // @ts-expect-error an action has no third parameter
      defineController({ list: (_request, _response, _params: { id: number }) => {} }),
      // @ts-expect-error a class is no action
      defineController({ News: class {} }),
      // @ts-expect-error a response has no such function
      defineController({ list: (_request, response) => response.send('text') }),
      // @ts-expect-error a controller is an object
      defineController(() => {}),
    ]
    void misuses
  })
})

describe('The types of get(), post() and methods()', () => {
  it('accept an action, and return an action', () => {
    const actions: Action[] = [
      get((_request, response) => response.text('x')),
      post(async (request) => request.forward({ action: 'list' })),
      methods(['GET', 'PROPFIND'], function list(this: { news: string[] }, _request, response) {
        response.json(this.news)
      }),
    ]
    const misuses = () => [
      // @ts-expect-error an action writes to the response, and returns no content
      get(() => 'text'),
      // @ts-expect-error methods are an array
      methods('GET', () => {}),
      // @ts-expect-error an action with parameters needs a schema
      post((_request, _response, _params: { id: number }) => {}),
    ]
    void [actions, misuses]
  })
})

describe('The types of withParams()', () => {
  interface View {
    id: number
    tag?: string | undefined
  }

  it('come from a schema of zod', () => {
    const schema = z.object({ id: z.coerce.number(), tag: z.string().optional() })
    same<InferOutput<typeof schema>, View>(true)
    const view = get(
      withParams(schema, (request, response, params) => {
        same<typeof request, HttpRequest>(true)
        same<typeof response, HttpResponse>(true)
        same<typeof params, View>(true)
      }),
    )
    const validated = (request: HttpRequest) => validateParams(request, schema)
    same<ReturnType<typeof validated>, Promise<View>>(true)
    void view
  })

  it('come from a schema of valibot', () => {
    const schema = v.object({
      id: v.pipe(v.string(), v.transform(Number), v.integer()),
      tag: v.optional(v.string()),
    })
    const view = withParams(schema, (_request, _response, { id, tag }) => {
      same<typeof id, number>(true)
      same<typeof tag, string | undefined>(true)
    })
    void view
  })

  it('come from a schema of arktype', () => {
    const schema = type({ id: 'string.integer.parse', 'tag?': 'string' })
    const view = withParams(schema, (_request, _response, { id, tag }) => {
      same<typeof id, number>(true)
      same<typeof tag, string | undefined>(true)
    })
    void view
  })

  it('come from a custom schema, also in a controller', () => {
    const schema: StandardSchemaV1<unknown, { page: bigint }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ value: { page: 1n } }),
      },
    }
    const list: ParamsAction<{ page: bigint }> = (_request, response, { page }) =>
      response.text(`${page}`)
    const news = defineController({
      all: withParams(schema, list),
      list: get(
        withParams(schema, async (request, _response, { page }) => {
          same<typeof page, bigint>(true)
          return request.forward({ action: 'all' })
        }),
      ),
    })
    void news
  })

  it('reject what does not match the schema', () => {
    const schema = z.object({ id: z.coerce.number() })
    const misuses = () => [
      // @ts-expect-error the schema has no such parameter
      withParams(schema, (_request, _response, { name }) => void name),
      // @ts-expect-error the schema returns a number
      withParams(schema, (_request, _response, { id }) => id.trim()),
      // @ts-expect-error an action writes to the response, and returns no content
      withParams(schema, () => 'text'),
      // @ts-expect-error no schema
      withParams({ id: 'number' }, () => {}),
    ]
    void misuses
  })
})
