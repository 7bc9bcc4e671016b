import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { before, describe, it } from 'node:test'
import {
  createRequestListener,
  FrontController,
  HttpRequest,
  type HttpResponse,
  type NameRule,
} from '../../lib/index.ts'
import { dispatched } from '../../lib/testing.ts'
import { exchange, listening } from '../support/http.ts'
import { repositoryFile } from '../support/repository.ts'

// test/conformance/README.md describes the vectors, and how they were recorded.

interface Vector {
  readonly id: string
  readonly request: {
    readonly method: string
    readonly target: string
    readonly headers: [string, string][]
    readonly body: string
  }
  readonly expect: { readonly exact: Outcome; readonly zf1?: Outcome }
}
type Outcome = Readonly<Record<string, unknown>>

const vectors: Vector[] = readFileSync(repositoryFile('test/conformance/vectors.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

const application = {
  default: {
    index: ['index', 'about'],
    news: ['index', 'list', 'view', 'fooBar'],
    'user-admin': ['index', 'saveAll'],
  },
  admin: { index: ['index', 'list'], report: ['index', 'daily'] },
  'api-v2': { index: ['index', 'ping'] },
}

for (const names of ['exact', 'zf1'] as const) {
  describe(`ZF1's outcomes under names: '${names}'`, () => {
    const front = frontController(names)

    it(`are those of all ${vectors.length} vectors, through the front controller`, async () => {
      for (const vector of vectors) {
        const { method, target, headers, body } = vector.request
        const request = new HttpRequest({
          method,
          target,
          headers: Object.fromEntries(headers),
          body,
        })
        const response = await front.handle(request)
        check(vector, names, response.status, response.headers.get('Outcome') ?? '')
      }
    })

    it('are those that dispatched() returns', async () => {
      for (const vector of vectors) {
        const found = await dispatched(front, vector.request)
        const expected = vector.expect[names] ?? vector.expect.exact
        const actual = { status: 200, ...found, outcome: found.type ? 'error' : 'dispatched' }
        const fields = ['module', 'controller', 'action', 'type', 'status', 'outcome'] as const
        for (const field of fields.filter((each) => each in expected)) {
          assert.equal(actual[field], expected[field], `${vector.id}: ${field}`)
        }
      }
    })

    it('are those of all vectors, over a real socket', async (t) => {
      const port = await listening(t, createServer(createRequestListener(front)))
      for (const vector of vectors) {
        const { status, headers } = await exchange(port, vector.request)
        check(vector, names, status, headers.outcome ?? '')
      }
    })
  })
}

describe('The conformance vectors', () => {
  let targets: string[]
  before(() => {
    targets = vectors.map(({ request }) => request.target)
  })

  it('can all be sent over a socket', () => {
    assert.deepEqual(
      targets.filter((target) => /[^\x21-\x7e]/.test(target)),
      [],
    )
  })
})

function check(vector: Vector, names: NameRule, status: number, outcome: string): void {
  const expected = vector.expect[names] ?? vector.expect.exact
  const { status: _, ...actual } = JSON.parse(decodeURIComponent(outcome))
  const kept = Object.fromEntries(Object.keys(expected).map((field) => [field, actual[field]]))
  assert.deepEqual({ ...kept, status }, expected, `${vector.id}: ${vector.request.target}`)
}

// Each action writes its request to a header: a response to HEAD has no body.
function writeOutcome(response: HttpResponse, outcome: Outcome): void {
  response.headers.set('Outcome', encodeURIComponent(JSON.stringify(outcome)))
}

function frontController(names: NameRule): FrontController {
  const modules = Object.entries(application).map(([module, controllers]) => [
    module,
    new Map(
      Object.entries(controllers).map(([controller, actions]) => [
        controller,
        Object.fromEntries(actions.map((action) => [action, actionOf(module, controller, action)])),
      ]),
    ),
  ]) as [string, Map<string, object>][]
  const [[, controllers] = ['', new Map()], ...others] = modules
  controllers.set('error', { error })
  return new FrontController({ controllers, modules: new Map(others), names })
}

function actionOf(module: string, controller: string, action: string) {
  const ran = [module, controller, action.replace(/[A-Z]/, (c) => `-${c.toLowerCase()}`)]
  return (request: HttpRequest, response: HttpResponse): void =>
    writeOutcome(response, { outcome: 'dispatched', ran, ...facts(request) })
}

function error(request: HttpRequest, response: HttpResponse): void {
  assert.ok(request.errorHandler)
  const { exception, type, request: original } = request.errorHandler
  const { code, status } = exception as Error & { code: number; status: number }
  response.status = status
  writeOutcome(response, {
    outcome: 'error',
    type,
    message: exception.message,
    code,
    ...facts(original),
    q: request.param('q'),
  })
}

function facts(request: HttpRequest): Outcome {
  const { q, module, controller, action } = request
  return {
    q,
    module,
    controller,
    action,
    path: valuesByName(request.pairs),
    query: lastValues(request.query),
    form: lastValues(request.form),
  }
}

function valuesByName(params: URLSearchParams): unknown[] {
  return [...new Set(params.keys())].map((name) => {
    const values = params.getAll(name)
    return [name, values.length > 1 ? values : values[0]]
  })
}

function lastValues(params: URLSearchParams): unknown[] {
  return [...new Map(params)]
}
