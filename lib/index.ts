export type { BodySource } from './body.ts'
export type { Action, Controller, Controllers } from './controller.ts'
export {
  type ErrorType,
  HttpError,
  type HttpErrorOptions,
  NoActionError,
  NoControllerError,
  NoRouteError,
  ThrownValueError,
} from './errors.ts'
export { FrontController, type FrontControllerOptions, type Limits } from './front-controller.ts'
export type { HeaderValue, ResponseHeaders } from './headers.ts'
export type { NameRule } from './names.ts'
export type { Moment, Plugin } from './plugin.ts'
export {
  type Destination,
  type ErrorHandler,
  HttpRequest,
  type HttpRequestInit,
  type RequestHeaders,
  type Route,
} from './request.ts'
export { HttpResponse, type ResponseBody } from './response.ts'
export type { Router } from './router.ts'
export { createRequestListener, type Handler } from './wire.ts'
