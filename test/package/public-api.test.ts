import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as portico from 'portico'
import * as testing from 'portico/testing'
import { repositoryFile } from '../support/repository.ts'

describe('The package', () => {
  it('exports these values and no others', () => {
    assert.deepEqual(Object.keys(portico).sort(), [
      'ClientGoneError',
      'FrontController',
      'HttpError',
      'HttpRequest',
      'HttpResponse',
      'NoActionError',
      'NoControllerError',
      'NoRouteError',
      'ServerClosingError',
      'ThrownValueError',
      'ValidationError',
      'channels',
      'createMiddleware',
      'createRequestListener',
      'defineController',
      'del',
      'get',
      'html',
      'incomingMessageOf',
      'loadControllers',
      'methods',
      'patch',
      'post',
      'put',
      'readJson',
      'serve',
      'validateParams',
      'withParams',
    ])
  })

  it('exports these values for tests from portico/testing', () => {
    assert.deepEqual(Object.keys(testing).sort(), ['TestAgent', 'dispatched'])
  })

  it('exports these types', () => {
    const index = readFileSync(repositoryFile('lib/index.ts'), 'utf8')
    const types = [...index.matchAll(/export type \{([^}]*)\}|\btype (\w+)/g)]
      .flatMap(([, list, one]) => (list ?? one ?? '').split(','))
      .map((name) => name.trim())
      .filter((name) => name !== '')
    assert.deepEqual(types.sort(), [
      'Access',
      'Action',
      'BodyChunks',
      'BodySource',
      'Client',
      'CloseResult',
      'Controller',
      'ControllerDirectory',
      'Controllers',
      'Destination',
      'DispatchMessage',
      'ErrorHandler',
      'ErrorReport',
      'ErrorType',
      'ExceptionReport',
      'FrontControllerOptions',
      'Handler',
      'HeaderLimits',
      'HeaderValue',
      'Hook',
      'HttpErrorOptions',
      'HttpRequestInit',
      'InferOutput',
      'JsonOptions',
      'Limits',
      'ListenerOptions',
      'Logger',
      'Markup',
      'Method',
      'Middleware',
      'MiddlewareOptions',
      'NameRule',
      'ParamValue',
      'ParamsAction',
      'Plugin',
      'RequestHeaders',
      'ResponseBody',
      'ResponseHeaders',
      'Route',
      'RoutePattern',
      'RoutePatterns',
      'Router',
      'ServeOptions',
      'ServerLimits',
      'Service',
      'StandardSchemaV1',
      'UrlOptions',
      'UrlParams',
      'UrlValue',
      'ValidationIssue',
    ])
  })
})
