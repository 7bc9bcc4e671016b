export type { BodyChunks, BodySource } from './body.ts'
export type { Action, Controller, Controllers } from './controller.ts'
export { type ControllerDirectory, loadControllers } from './controller-directory.ts'
export { defineController, type Members } from './define-controller.ts'
export { channels, type DispatchMessage } from './diagnostics.ts'
export type { ErrorReport } from './error-report.ts'
export {
  ClientGoneError,
  type ErrorType,
  HttpError,
  type HttpErrorOptions,
  NoActionError,
  NoControllerError,
  NoRouteError,
  ThrownValueError,
} from './errors.ts'
export type { ExceptionReport } from './exception-report.ts'
export { type Access, incomingMessageOf } from './exchange.ts'
export type { Client } from './forwarded.ts'
export type { HeaderLimits } from './framing.ts'
export { FrontController } from './front-controller.ts'
export type { HeaderValue, ResponseHeaders } from './headers.ts'
export { html, type Markup } from './html.ts'
export { type JsonOptions, readJson } from './json-body.ts'
export type { Logger } from './logger.ts'
export type { HttpRequestInit, RequestHeaders } from './message.ts'
export { del, get, type Method, methods, patch, post, put } from './methods.ts'
export { createMiddleware, type Middleware, type MiddlewareOptions } from './middleware.ts'
export type { NameRule } from './names.ts'
export type { FrontControllerOptions, Limits } from './options.ts'
export type { Moment, Plugin } from './plugin.ts'
export {
  type Destination,
  type ErrorHandler,
  HttpRequest,
  type ParamValue,
  type Route,
} from './request.ts'
export { HttpResponse, type ResponseBody } from './response.ts'
export type { RoutePattern, RoutePatterns } from './route-pattern.ts'
export type { Router } from './router.ts'
export { type ServeOptions, type ServerLimits, type Service, serve } from './serve.ts'
export type {
  InferOutput,
  StandardIssue,
  StandardResult,
  StandardSchemaV1,
} from './standard-schema.ts'
export type { UrlOptions, UrlParams, UrlValue } from './url-params.ts'
export { type ParamsAction, validateParams, withParams } from './validate-params.ts'
export { ValidationError, type ValidationIssue } from './validation-error.ts'
export { createRequestListener, type Handler, type ListenerOptions } from './wire.ts'
