import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import type { Action } from '../../lib/controllers/controller.ts'
import { readJson } from '../../lib/controllers/json-body.ts'
import { get } from '../../lib/controllers/methods.ts'
import type { StandardIssue, StandardSchemaV1 } from '../../lib/controllers/standard-schema.ts'
import {
  validateJson,
  validateParams,
  withJson,
  withParams,
} from '../../lib/controllers/validate-params.ts'
import type { HttpRequestInit } from '../../lib/http/message.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { HttpResponse } from '../../lib/http/response.ts'
import { ValidationError } from '../../lib/http/validation-error.ts'
import { createRequestListener } from '../../lib/server/request-listener.ts'
import { collectReports } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'
import { exchange, listening } from '../support/http.ts'

const libraries: Record<string, StandardSchemaV1<unknown, { id: number; sort: string }>> = {
  zod: z.object({ id: z.coerce.number().int(), sort: z.string().default('date') }),
  valibot: v.object({
    id: v.pipe(v.string(), v.digits(), v.transform(Number)),
    sort: v.optional(v.string(), 'date'),
  }),
  arktype: type({ id: 'string.integer.parse', sort: 'string = "date"' }),
}

for (const [library, schema] of Object.entries(libraries)) {
  describe(`withParams() with a schema of ${library}`, () => {
    const view = get(withParams(schema, (_request, response, params) => response.json(params)))

    it('passes typed values of path, query string and form to the action', async () => {
      const form = {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }
      const table: [HttpRequestInit, unknown][] = [
        [{ target: '/news/view/id/42' }, { id: 42, sort: 'date' }],
        [{ target: '/news/view?id=42&id=43&sort=name' }, { id: 43, sort: 'name' }],
        [{ target: '/news/view/id/1?id=2' }, { id: 1, sort: 'date' }],
        [
          { target: '/news/save', ...form, body: 'id=7&sort=' },
          { id: 7, sort: '' },
        ],
      ]
      for (const [init, params] of table) {
        const { body } = await handle({ view, save: withParams(schema, echo) }, init)
        assert.deepEqual(JSON.parse(String(body)), params)
      }
    })

    it('responds with a 400 that lists the issues', async () => {
      const response = await handle({ view }, { target: '/news/view/id/two' })
      const { status, detail, errors } = JSON.parse(String(response.body))
      assert.equal(status, 400)
      assert.match(detail, /^Invalid parameters: id\b/)
      assert.deepEqual([errors.length, errors[0].parameter], [1, 'id'])
      assert.equal(typeof errors[0].detail, 'string')
    })

    it('does not read inherited properties as parameters', async () => {
      const response = await handle({ view }, { target: '/news/view?sort=a&__proto__=b' })
      assert.equal(JSON.parse(String(response.body)).errors[0].parameter, 'id')
      assert.equal(Object.hasOwn(Object.prototype, 'b'), false)
    })
  })
}

describe('withParams()', () => {
  it('validates all parameters but the reserved ones, in an object without a prototype', async () => {
    let given: unknown
    const schema = schemaOf((value) => {
      given = value
      return { value }
    })
    const query =
      'a=1&a=2&module=x&controller=x&action=x&q=x&error_handler=x&__proto__=y&toString=z'
    await handle({ view: withParams(schema, () => {}) }, { target: `/news/view/b/3?${query}` })
    assert.equal(Object.getPrototypeOf(given), null)
    assert.deepEqual(Object.entries(given as object).sort(), [
      ['__proto__', 'y'],
      ['a', '2'],
      ['b', '3'],
      ['toString', 'z'],
    ])
  })

  it('awaits an asynchronous schema, and runs synchronously for any other', async () => {
    const seen: string[] = []
    const see: Action = () => void seen.push('action')
    const [request, response] = [new HttpRequest({ target: '/' }), new HttpResponse()]
    assert.equal(
      withParams(
        schemaOf(() => ({ value: 1 })),
        see,
      )(request, response),
      undefined,
    )
    assert.deepEqual(seen, ['action'])

    const slow = z.object({ id: z.string().refine(async (id) => id === '1') })
    const view = withParams(slow, echo)
    assert.equal((await handle({ view }, { target: '/news/view/id/1' })).body, '{"id":"1"}')
    assert.equal((await handle({ view }, { target: '/news/view/id/2' })).status, 400)
  })

  it('keeps the name of the action, its properties and its `this`', () => {
    const action = Object.assign(
      function view(this: { title: string }, _request: HttpRequest, response: HttpResponse) {
        response.text(this.title)
      },
      { methods: ['GET'] },
    )
    const news = {
      title: 'News',
      view: withParams(
        schemaOf((value) => ({ value })),
        action,
      ),
    }
    const response = new HttpResponse()
    news.view(new HttpRequest({ target: '/' }), response)
    assert.deepEqual([response.body, news.view.name, news.view.methods], ['News', 'view', ['GET']])
  })

  it('responds with a 500 if the schema throws', async () => {
    const view = withParams(
      schemaOf(() => {
        throw new Error('broken')
      }),
      echo,
    )
    assert.equal((await handle({ view }, { target: '/news/view' })).status, 500)
  })

  it('rejects an invalid action and an invalid schema', () => {
    const schema = schemaOf((value) => ({ value }))
    assert.throws(() => withParams(schema, undefined as unknown as Action), {
      message: 'Expected an action, got "undefined"',
    })
    for (const bad of [undefined, null, {}, { '~standard': {} }, () => {}]) {
      assert.throws(() => withParams(bad as unknown as StandardSchemaV1, () => {}), {
        name: 'TypeError',
        message: 'Expected a schema of Standard Schema v1, with "~standard"',
      })
    }
  })
})

describe('validateParams()', () => {
  it('resolves to the values, or rejects with a ValidationError', async () => {
    const { zod } = libraries
    assert.ok(zod)
    const request = (target: string) => new HttpRequest({ target })
    assert.deepEqual(await validateParams(request('/?id=1'), zod), { id: 1, sort: 'date' })
    await assert.rejects(validateParams(request('/?id=x'), zod), ValidationError)
    await assert.rejects(validateParams(request('/'), {} as StandardSchemaV1), TypeError)
  })

  it('reports the path of each issue, also inside a parameter', async () => {
    const paths: StandardIssue['path'][] = [
      undefined,
      ['id'],
      [{ key: 'filter' }, 'tags', 0],
      [Symbol('s')],
    ]
    const schema = schemaOf(() => ({ issues: paths.map((path) => ({ message: 'bad', path })) }))
    await assert.rejects(validateParams(new HttpRequest({ target: '/' }), schema), {
      issues: ['', 'id', 'filter.tags.0', 'Symbol(s)'].map((path) => ({ path, message: 'bad' })),
    })
  })
})

describe('The response to invalid parameters', () => {
  const secrets = { code: '4/0AfJohXkq9-SECRET', password: 'hunter2-hunter2', pin: 'pin-4711' }
  // The messages of each library quote the value in a different way.
  const quoting: Record<string, StandardSchemaV1> = {
    valibot: v.object({
      code: v.literal('a'),
      password: v.pipe(v.string(), v.email()),
      pin: v.picklist(['0']),
    }),
    arktype: type({ code: '"a"', password: 'string.email', pin: '"0"' }),
    zod: z.object(
      Object.fromEntries(
        Object.keys(secrets).map((name) => [
          name,
          z.string().refine(() => false, { error: ({ input }) => `Not ${JSON.stringify(input)}` }),
        ]),
      ),
    ),
    own: schemaOf((given) => ({
      issues: Object.entries(given as object).flatMap(([name, value]) => [
        { path: [name], message: `${'x'.repeat(195)}${value}` },
        { path: [name, value], message: encodeURIComponent(value) },
      ]),
    })),
  }

  for (const [library, schema] of Object.entries(quoting)) {
    it(`shows no value of the request, to the client or in the report (${library})`, async () => {
      for (const accept of ['application/json', 'text/html', 'text/plain']) {
        for (const development of [false, true]) {
          const { reports, onReport } = collectReports()
          const news = { view: withParams(schema, () => {}) }
          const front = createFront({ news }, { onReport, development })
          const target = `/news/view?${new URLSearchParams(secrets)}`
          const { status, body } = await front.handle(
            new HttpRequest({ target, headers: { accept } }),
          )
          assert.equal(status, 400)
          assert.match(String(body), /\[password\]/)
          assert.match(reports[0]?.message ?? '', /Invalid parameters: .*\[(code|password)\]/)
          for (const text of [String(body), JSON.stringify(reports)]) {
            assert.doesNotMatch(text, /0AfJ|AfJohXkq|SECRET|hunter|pin-4711/)
          }
        }
      }
    })
  }

  it('shows no secret that was sent as a name', async () => {
    const strict = [z.strictObject({}), type({ '+': 'reject' }), v.strictObject({})]
    for (const schema of strict as StandardSchemaV1[]) {
      const target = '/news/view?4/0AfJohXkq9-SECRETa8bC=1'
      const { status, body } = await handle({ view: withParams(schema, () => {}) }, { target })
      assert.equal(status, 400)
      assert.doesNotMatch(String(body), /AfJohXkq|SECRET/)
    }
  })

  it('lists at most 20 issues, each truncated, in problem details, on a page and in text', async () => {
    const issues = Array.from({ length: 30 }, (_, i) => ({
      path: [`p${i}`],
      message: `<${'x'.repeat(300)}`,
    }))
    const view = withParams(
      schemaOf(() => ({ issues })),
      () => {},
    )
    const bodyAs = async (accept: string) =>
      String((await handle({ view }, { target: '/news/view', headers: { accept } })).body)
    const { detail, errors } = JSON.parse(await bodyAs('application/json'))
    assert.equal(detail.length, 200)
    assert.equal(errors.length, 20)
    assert.deepEqual(errors[19], { parameter: 'p19', detail: `<${'x'.repeat(199)}` })
    const page = await bodyAs('text/html')
    assert.equal(page.match(/<li>p\d+: &lt;x{199}<\/li>/g)?.length, 20)
    assert.doesNotMatch(page, /Invalid parameters/)
    assert.equal((await bodyAs('text/plain')).match(/^p\d+: <x{199}$/gm)?.length, 20)
  })

  it('reads the first 20 issues of a schema only, and counts the others', async () => {
    let read = 0
    const issue = {
      get message() {
        read++
        return 'bad'
      },
    }
    const issues = Array.from({ length: 1_000 }, () => issue)
    const view = withParams(
      schemaOf(() => ({ issues })),
      () => {},
    )
    const { body } = await handle({ view }, { target: '/news/view' })
    assert.equal(read, 20)
    assert.match(String(body), /and 980 more/)
  })

  it('is sent over a socket', async (t) => {
    const schema = z.object({ id: z.coerce.number() })
    const news = { view: get(withParams(schema, echo)) }
    const front = createFront({ news })
    const port = await listening(t, createServer(createRequestListener(front)))
    const good = await exchange(port, { target: '/news/view/id/42' })
    assert.deepEqual([good.status, good.body], [200, '{"id":42}'])
    const bad = await exchange(port, { target: '/news/view/id/two' })
    assert.equal(bad.headers['content-type'], 'application/problem+json')
    assert.deepEqual(JSON.parse(bad.body).errors, [
      { parameter: 'id', detail: 'Invalid input: expected number, received NaN' },
    ])
  })
})

function echo(_request: HttpRequest, response: HttpResponse, params?: unknown): void {
  response.json(params)
}

function schemaOf(
  validate: StandardSchemaV1['~standard']['validate'],
): StandardSchemaV1<unknown, unknown> {
  return { '~standard': { version: 1, vendor: 'test', validate } }
}

async function handle(
  actions: Record<string, Action>,
  init: HttpRequestInit,
): Promise<HttpResponse> {
  const front = createFront({ news: actions })
  return front.handle(new HttpRequest(init))
}

for (const [library, schema] of Object.entries(libraries)) {
  describe(`withJson() with a schema of ${library}`, () => {
    const save = withJson(schema, (_request, response, article) => response.json(article))
    const headers = { 'content-type': 'application/json' }
    const send = (body: string, more: object = {}): Promise<HttpResponse> =>
      handle({ save }, { method: 'POST', target: '/news/save', headers, body, ...more })

    it('passes the typed value of the body to the action', async () => {
      const response = await send('{"id":"42"}')
      assert.deepEqual(JSON.parse(String(response.body)), { id: 42, sort: 'date' })
    })

    it('responds with 400, 413 and 415', async () => {
      const invalid = await send('{"id":"two"}')
      const { status, detail, errors } = JSON.parse(String(invalid.body))
      assert.deepEqual([status, Object.keys(errors[0])], [400, ['field', 'detail']])
      assert.equal(errors[0].field, 'id')
      assert.match(detail, /^Invalid fields: id\b/)
      assert.equal((await send('{"id":')).status, 400)
      assert.equal((await send(`{"id":"${'1'.repeat(1_048_576)}"}`)).status, 413)
      assert.equal((await send('id=1', { headers: {} })).status, 415)
    })

    it('shows no value of the body in the report', async () => {
      const { reports, onReport } = collectReports()
      const front = createFront({ news: { save } }, { onReport })
      const body = '{"id":"c4n4ry-id","sort":{"c4n4ry name":["c4n4ry-item"]},"other":4242424242}'
      await front.handle(new HttpRequest({ method: 'POST', target: '/news/save', headers, body }))
      assert.equal(reports.length, 1)
      assert.doesNotMatch(JSON.stringify(reports), /c4n4ry|4242424242/)
    })
  })
}

describe('validateJson()', () => {
  it('returns the value, and an exception that quotes the body is scrubbed', async () => {
    const { reports, onReport } = collectReports()
    const save: Action = async (request) => {
      const { id, sort } = await validateJson(
        request,
        libraries.zod as StandardSchemaV1<unknown, { id: number; sort: string }>,
      )
      throw new Error(`Cannot save ${id} by ${sort}`)
    }
    const front = createFront({ news: { save } }, { onReport })
    const headers = { 'content-type': 'application/json' }
    const body = '{"id":"424242","sort":"c4n4ry"}'
    await front.handle(new HttpRequest({ method: 'POST', target: '/news/save', headers, body }))
    assert.equal(reports[0]?.message, 'Cannot save [id] by [sort]')
  })

  it('reports a large body by the shape of the message', async () => {
    const { reports, onReport } = collectReports()
    const save: Action = async (request) => {
      const read = await readJson(request)
      throw new Error(`Cannot save ${JSON.stringify(read).slice(-20)}`)
    }
    const front = createFront({ news: { save } }, { onReport })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify([...Array(9_000).fill('padding'), 'c4n4ry'])
    await front.handle(new HttpRequest({ method: 'POST', target: '/news/save', headers, body }))
    assert.doesNotMatch(reports[0]?.message ?? '', /c4n4ry|Cannot/)
  })
})
