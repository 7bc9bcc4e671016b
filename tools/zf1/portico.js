import assert from 'node:assert/strict'
import { FrontController, HttpRequest } from '../../dist/lib/index.js'
import { application, kebabCased } from './application.js'

const RESERVED = ['module', 'controller', 'action', 'q', 'error_handler']

/** Returns Portico in process: a function from a request to its outcome. Each action records the outcome. */
export function createPortico(names) {
  const outcomes = new Map()
  const front = new FrontController({ ...controllersOf(outcomes), names, logger: undefined })
  return async ({ method, target, headers, body }) => {
    const init = { method, target, headers: Object.fromEntries(headers), body }
    const request = new HttpRequest(init)
    const { status } = await front.handle(request)
    const outcome = outcomes.get(request.id) ?? { outcome: 'nothing' }
    outcomes.delete(request.id)
    return { ...outcome, status }
  }
}

function controllersOf(outcomes) {
  const { default: controllers, ...modules } = mapValues(application, (actionsOf, module) => {
    const entries = Object.entries(actionsOf).map(([controller, actions]) => [
      controller,
      Object.fromEntries(
        actions.map((action) => [action, createAction(outcomes, module, controller, action)]),
      ),
    ])
    return new Map(entries)
  })
  controllers.set('error', {
    error: (request, response) => recordError(outcomes, request, response),
  })
  return { controllers, modules: new Map(Object.entries(modules)) }
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}

function createAction(outcomes, module, controller, name) {
  const ran = [module, controller, kebabCased(name)]
  return (request) => {
    checkReserved(request)
    outcomes.set(request.id, { outcome: 'dispatched', ran, ...factsOf(request) })
  }
}

function recordError(outcomes, request, response) {
  checkReserved(request)
  const { exception, type, request: original } = request.errorHandler
  const { message, code, status } = exception
  response.status = status
  outcomes.set(request.id, { outcome: 'error', type, message, code, ...factsOf(original) })
}

// A client must not change these names. If a check fails, the outcome is an error that ZF1 does not have.
function checkReserved(request) {
  const { module, controller, action, errorHandler } = request
  const expected = { module, controller, action, q: request.q, error_handler: errorHandler }
  for (const name of RESERVED) {
    assert.equal(request.param(name), expected[name], name)
    assert.equal(request.params.get(name), expected[name], name)
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
