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
  type HttpResponse,
  type InferOutput,
  methods,
  type ParamsAction,
  post,
  type StandardSchemaV1,
  validateParams,
  withParams,
} from '../../lib/index.ts'

// Whether two types are one, `any` told apart.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

function same<A, B>(_isSame: Same<A, B>): void {}

// What stands here compiles, or fails to where a line says so: tsc is the test, node only runs it.
describe('The types of parameters', () => {
  const request = new HttpRequest({ target: '/news/list' })

  it('know the reserved names', () => {
    const [module, controller] = [request.param('module'), request.param('controller')]
    const [action, q] = [request.param('action'), request.param('q')]
    const [handler, id] = [request.param('error_handler'), request.param('id')]
    same<typeof module | typeof controller | typeof action | typeof q, string>(true)
    same<typeof handler, ErrorHandler | undefined>(true)
    same<typeof id, string | undefined>(true)
  })

  it('are what a client can send where the name is known at run time alone', () => {
    const name: string = 'id'
    const value = request.param(name)
    same<typeof value, string | undefined>(true)
    const either: 'id' | 'module' = Math.random() < 2 ? 'id' : 'module'
    const one = request.param(either as 'id' | 'module')
    same<typeof one, string | undefined>(true)
  })
})

describe('The types of defineController()', () => {
  it('tell every action what it is given', () => {
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

  it('let actions share state, and know it by `this`', () => {
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

  it('refuse what is no action', () => {
    const misuses = () => [
      // @ts-expect-error an answer is filled in, not returned
      defineController({ list: () => 'text' }),
      // @ts-expect-error an answer is filled in, not returned
      defineController({ list: async () => ({ news: [] }) }),
      // @ts-expect-error an action is given no third thing
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

describe('The types of get(), post() and their like', () => {
  it('take an action, and give one', () => {
    const actions: Action[] = [
      get((_request, response) => response.text('x')),
      post(async (request) => request.forward({ action: 'list' })),
      methods(['GET', 'PROPFIND'], function list(this: { news: string[] }, _request, response) {
        response.json(this.news)
      }),
    ]
    const misuses = () => [
      // @ts-expect-error an answer is filled in, not returned
      get(() => 'text'),
      // @ts-expect-error methods are listed
      methods('GET', () => {}),
      // @ts-expect-error an action that wants parameters needs a schema
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
    const asked = (request: HttpRequest) => validateParams(request, schema)
    same<ReturnType<typeof asked>, Promise<View>>(true)
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

  it('come from a schema of ones own, and hold in a controller', () => {
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

  it('refuse what does not fit', () => {
    const schema = z.object({ id: z.coerce.number() })
    const misuses = () => [
      // @ts-expect-error the schema has no such parameter
      withParams(schema, (_request, _response, { name }) => void name),
      // @ts-expect-error the schema makes a number of it
      withParams(schema, (_request, _response, { id }) => id.trim()),
      // @ts-expect-error an answer is filled in, not returned
      withParams(schema, () => 'text'),
      // @ts-expect-error no schema
      withParams({ id: 'number' }, () => {}),
    ]
    void misuses
  })
})
