import assert from 'node:assert/strict'
import { FrontController, HttpError, HttpRequest } from '../../dist/lib/index.js'
import { application, HOOKS, kebabCased } from './application.js'

const RESERVED = ['module', 'controller', 'action', 'q', 'error_handler']

/** Returns Portico in process: a function from a request to its outcome. Each action and each hook records what it does. */
export function createPortico(names) {
  const records = new Map()
  const front = new FrontController({ ...controllersOf(records), names, logger: undefined })
  return async ({ method, target, headers, body }) => {
    const init = { method, target, headers: Object.fromEntries(headers), body }
    const request = new HttpRequest(init)
    const record = { trace: [], counts: {}, outcome: { outcome: 'nothing' } }
    records.set(request.id, record)
    const response = await front.handle(request)
    records.delete(request.id)
    const sent = [response.status, response.headers.get('Location') ?? '']
    return { ...record.outcome, trace: record.trace, response: sent, status: response.status }
  }
}

function controllersOf(records) {
  const { default: controllers, ...modules } = mapValues(application, (functionsOf, module) =>
    mapValues(functionsOf, (names, controller) =>
      Object.fromEntries(
        names.map((name) => [name, createFunction(records, module, controller, name)]),
      ),
    ),
  )
  const toMap = (object) => new Map(Object.entries(object))
  return { controllers: toMap(controllers), modules: toMap(mapValues(modules, toMap)) }
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}

// Returns a hook or an action. It does what the query requests: `init2=throw` is for the second call of an `init`.
function createFunction(records, module, controller, name) {
  const kind = HOOKS.includes(name) ? name : 'action'
  const isAction = kind === 'action' && name !== '__call'
  const ran = [module, controller, isAction ? kebabCased(name) : name]
  return (request, response) => {
    const record = records.get(request.id)
    record.trace.push(ran.join('/'))
    if (kind === 'action') record.outcome = outcomeOf(request, response, ran)
    record.counts[kind] = (record.counts[kind] ?? 0) + 1
    if (controller === 'error') return undefined
    const instruction = request.query.getAll(kind + record.counts[kind]).at(-1) ?? ''
    return follow(instruction.split('.'), kind, request, response)
  }
}

function follow([verb, first, second], kind, request, response) {
  switch (verb) {
    case 'throw':
      throw new HttpError(403, `${kind} throws`)
    case 'redirect':
      response.redirect('/login')
      return undefined
    case 'end':
      return response.redirect('/login')
    case 'status':
      response.status = Number(first)
      return undefined
    case 'forward':
      return request.forward({ action: first, ...(second && { controller: second }) })
    default:
      return undefined
  }
}

function outcomeOf(request, response, ran) {
  checkReserved(request)
  if (request.errorHandler === undefined) {
    return { outcome: 'dispatched', ran, ...factsOf(request) }
  }
  const { exception, type, request: original } = request.errorHandler
  const { message, code, status } = exception
  response.status = status
  return { outcome: 'error', type, message, code, ...factsOf(original) }
}

// A client must not change these names. If a check fails, the outcome is an error that ZF1 does not have.
function checkReserved(request) {
  const { module, controller, action, errorHandler } = request
  const expected = { module, controller, action, q: request.q, error_handler: errorHandler }
  for (const name of RESERVED) {
    assert.equal(request.param(name), expected[name], name)
    assert.equal(request.params[name], expected[name], name)
  }
}

function factsOf(request) {
  const { module, controller, action } = request
  return {
    module,
    controller,
    action,
    path: groupByName(request.pairs),
    query: [...new Map(request.query)].filter(([name]) => name !== 'q'),
    form: [...new Map(request.form)],
    params: [...request.params].filter(([name]) => !RESERVED.includes(name)),
  }
}

function groupByName(pairs) {
  return [...new Set(pairs.keys())].map((name) => {
    const values = pairs.getAll(name)
    return [name, values.length > 1 ? values : values[0]]
  })
}
