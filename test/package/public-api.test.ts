import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as portico from 'portico'
import * as observe from 'portico/observe'
import * as session from 'portico/session'
import * as signIn from 'portico/sign-in'
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
      'createLogger',
      'createMiddleware',
      'createRequestListener',
      'defineController',
      'del',
      'get',
      'html',
      'incomingMessageOf',
      'loadControllers',
      'methods',
      'nested',
      'patch',
      'post',
      'put',
      'readJson',
      'sameOrigin',
      'serve',
      'validateJson',
      'validateParams',
      'withJson',
      'withParams',
      'withPublicFiles',
    ])
  })

  it('exports these values for tests from portico/testing', () => {
    assert.deepEqual(Object.keys(testing).sort(), ['TestAgent', 'dispatched'])
  })

  it('exports these values for operators from portico/observe', () => {
    assert.deepEqual(Object.keys(observe).sort(), [
      'BUCKETS',
      'createObserver',
      'quantile',
      'sumSnapshots',
      'toMetrics',
      'watchProcess',
    ])
  })

  it('exports these values for sessions and sign-ins from their own subpaths', () => {
    assert.deepEqual(Object.keys(session).sort(), ['createSession'])
    assert.deepEqual(Object.keys(signIn).sort(), ['SignInError', 'signIn'])
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
      'BeforeMiddleware',
      'BodyChunks',
      'BodySource',
      'Client',
      'CloseResult',
      'Controller',
      'ControllerDirectory',
      'Controllers',
      'CookieAttributes',
      'Destination',
      'DispatchError',
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
      'LimitOverrides',
      'Limits',
      'ListenerOptions',
      'LogLevel',
      'Logger',
      'LoggerOptions',
      'Markup',
      'Method',
      'Middleware',
      'MiddlewareOptions',
      'NameRule',
      'NamedControllers',
      'NestedLimits',
      'NestedValue',
      'ParamValue',
      'Params',
      'ParamsAction',
      'Plugin',
      'PublicFilesOptions',
      'RequestHeaders',
      'ResponseBody',
      'ResponseCookies',
      'ResponseHeaders',
      'Returned',
      'Route',
      'RoutePattern',
      'RoutePatterns',
      'Router',
      'SameOriginOptions',
      'ServeOptions',
      'ServerCounts',
      'ServerLimits',
      'Service',
      'SharedState',
      'StandardSchemaV1',
      'UrlOptions',
      'UrlParams',
      'UrlValue',
      'ValidationIssue',
    ])
  })
})
