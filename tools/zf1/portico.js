import assert from 'node:assert/strict'
import { FrontController, HttpRequest } from '../../dist/lib/index.js'
import { application, kebabCased } from './application.js'

const RESERVED = ['module', 'controller', 'action', 'q', 'error_handler']

/** Portico in process: a function from a request to its outcome, as each action tells it. */
export function createPortico(names) {
  const told = new Map()
  const front = new FrontController({ ...controllersOf(told), names, logger: undefined })
  return async ({ method, target, headers, body }) => {
    const init = { method, target, headers: Object.fromEntries(headers), body }
    const request = new HttpRequest(init)
    const { status } = await front.handle(request)
    const outcome = told.get(request.id) ?? { outcome: 'nothing' }
    told.delete(request.id)
    return { ...outcome, status }
  }
}

function controllersOf(told) {
  const { default: controllers, ...modules } = mapValues(application, (actionsOf, module) => {
    const entries = Object.entries(actionsOf).map(([controller, actions]) => [
      controller,
      Object.fromEntries(actions.map((each) => [each, action(told, module, controller, each)])),
    ])
    return new Map(entries)
  })
  controllers.set('error', { error: (request, response) => error(told, request, response) })
  return { controllers, modules: new Map(Object.entries(modules)) }
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}

function action(told, module, controller, name) {
  const ran = [module, controller, kebabCased(name)]
  return (request) => {
    checkReserved(request)
    told.set(request.id, { outcome: 'dispatched', ran, ...facts(request) })
  }
}

function error(told, request, response) {
  checkReserved(request)
  const { exception, type, request: original } = request.errorHandler
  const { message, code, status } = exception
  response.status = status
  told.set(request.id, { outcome: 'error', type, message, code, ...facts(original) })
}

// Whatever the client sends under these names. Who fails here has an outcome that ZF1 has not.
function checkReserved(request) {
  const { module, controller, action, errorHandler } = request
  const due = { module, controller, action, q: request.q, error_handler: errorHandler }
  for (const name of RESERVED) {
    assert.equal(request.param(name), due[name], name)
    assert.equal(request.params.get(name), due[name], name)
  }
}

function facts(request) {
  const { module, controller, action } = request
  return {
    module,
    controller,
    action,
    path: lists(request.pairs),
    query: [...new Map(request.query)].filter(([name]) => name !== 'q'),
    form: [...new Map(request.form)],
    params: [...request.params].filter(([name]) => !RESERVED.includes(name)),
  }
}

function lists(pairs) {
  return [...new Set(pairs.keys())].map((name) => {
    const values = pairs.getAll(name)
    return [name, values.length > 1 ? values : values[0]]
  })
}
