/** @module portico */

export type {
  Action,
  Controller,
  Controllers,
  LimitOverrides,
  NamedControllers,
  Returned,
} from './controllers/controller.ts'
export { defineController } from './controllers/define-controller.ts'
export { type JsonOptions, readJson } from './controllers/json-body.ts'
export { type ControllerDirectory, loadControllers } from './controllers/load-controllers.ts'
export { del, get, methods, patch, post, put } from './controllers/methods.ts'
export type { InferOutput, StandardSchemaV1 } from './controllers/standard-schema.ts'
export {
  type ParamsAction,
  validateJson,
  validateParams,
  withJson,
  withParams,
} from './controllers/validate-params.ts'
export { FrontController } from './dispatch/front-controller.ts'
export type { FrontControllerOptions, Limits } from './dispatch/options.ts'
export type { Hook, Plugin } from './dispatch/plugin.ts'
export { type SameOriginOptions, sameOrigin } from './dispatch/same-origin.ts'
export type { BodyChunks, BodySource } from './http/body.ts'
export type { CookieAttributes, ResponseCookies } from './http/cookies.ts'
export {
  ClientGoneError,
  type ErrorType,
  HttpError,
  type HttpErrorOptions,
  NoActionError,
  NoControllerError,
  NoRouteError,
  ServerClosingError,
  ThrownValueError,
} from './http/errors.ts'
export type { Client } from './http/forwarded.ts'
export { html, type Markup } from './http/html.ts'
export type { HttpRequestInit, RequestHeaders, SharedState } from './http/message.ts'
export { type NestedLimits, type NestedValue, nested } from './http/nested.ts'
export type { Params } from './http/params.ts'
export {
  type ErrorHandler,
  HttpRequest,
  type ParamValue,
} from './http/request.ts'
export type { Method } from './http/request-line.ts'
export { HttpResponse, type ResponseBody } from './http/response.ts'
export type { HeaderValue, ResponseHeaders } from './http/response-headers.ts'
export type { Destination, Route, UrlOptions, UrlParams, UrlValue } from './http/route.ts'
export { ValidationError, type ValidationIssue } from './http/validation-error.ts'
export { channels, type DispatchError, type DispatchMessage } from './reporting/diagnostics.ts'
export type { ErrorReport } from './reporting/error-report.ts'
export type { ExceptionReport } from './reporting/exception-report.ts'
export type { Logger } from './reporting/log.ts'
export { createLogger, type LoggerOptions, type LogLevel } from './reporting/log.ts'
export type { NameRule } from './routing/name-rules.ts'
export type { RoutePattern, RoutePatterns } from './routing/route-pattern.ts'
export type { Router } from './routing/router.ts'
export type { BeforeMiddleware } from './server/before.ts'
export type { CloseResult } from './server/drain.ts'
export type { HeaderLimits } from './server/framing.ts'
export type { Access, Handler, ListenerOptions } from './server/handler.ts'
export { incomingMessageOf } from './server/incoming-request.ts'
export { createMiddleware, type Middleware, type MiddlewareOptions } from './server/middleware.ts'
export { type PublicFilesOptions, withPublicFiles } from './server/public-files.ts'
export { createRequestListener } from './server/request-listener.ts'
export { type ServeOptions, type ServerLimits, type Service, serve } from './server/serve.ts'
export type { ServerCounts } from './server/server-counts.ts'
