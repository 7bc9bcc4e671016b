import assert from 'node:assert/strict'
import { createErrorController, failsafe } from '../../lib/controllers/error-controller.ts'
import {
  type ErrorHandler,
  type FrontController,
  type FrontControllerOptions,
  HttpRequest,
  type HttpRequestInit,
  HttpResponse,
  ThrownValueError,
} from '../../lib/index.ts'
import { createFront } from './front.ts'

/** The actions of a controller. */
export type Actions = Record<string, unknown>

/** A request, or its target alone. */
export type RequestLike = string | HttpRequestInit

/** A run of the error action: its error handler and request, and facts of the response at its start. */
export interface ErrorRun extends ErrorHandler {
  readonly errorRequest: HttpRequest
  readonly pristine: unknown[]
}

export const urlEncoded = { 'Content-Type': 'application/x-www-form-urlencoded' }

const errorController = createErrorController()
const fixed = failsafe(new HttpResponse())

/**
 * Creates a front controller whose controller `news` has these actions, and whose error action is the built-in
 * one. Records each run of the error action.
 */
export function createWatchedFront(
  news: Actions,
  options: FrontControllerOptions = {},
): { front: FrontController; runs: ErrorRun[] } {
  const runs: ErrorRun[] = []
  const error = (errorRequest: HttpRequest, response: HttpResponse): void => {
    assert.ok(errorRequest.errorHandler)
    const { status, body, headers, renderExceptions, exceptions } = response
    const pristine = [status, body, headers.size, renderExceptions, exceptions.length]
    runs.push({
      ...errorRequest.errorHandler,
      errorRequest,
      pristine: [...pristine, exceptions[0]],
    })
    errorController.error(errorRequest, response)
  }
  return { front: createFront({ news, error: { error, other: error } }, options), runs }
}

/** Handles a request, and expects one run of the error action, on a response without a trace of the failed action. */
export async function expectError(
  news: Actions,
  request: RequestLike,
  options: FrontControllerOptions = {},
): Promise<[ErrorRun, HttpResponse]> {
  const { front, runs } = createWatchedFront(news, options)
  const response = await front.handle(toRequest(request))
  const [run] = runs
  assert.ok(run && runs.length === 1, `${runs.length} runs of the error action`)
  assert.deepEqual(namesOf(run.errorRequest), ['default', 'error', 'error'])
  assert.deepEqual(run.pristine.slice(0, 5), [200, undefined, 0, false, 1])
  assert.ok(run.pristine[5] === run.exception && response.exceptions[0] === run.exception)
  assert.equal(response.exceptions.length, 1)
  assert.equal(run.request.errorHandler, undefined)
  return [run, response]
}

/** Handles a request, expects the action of `news` to run, and returns the request that the action received. */
export async function expectDispatch(
  request: RequestLike,
  action = 'list',
  others: Actions = {},
  options: FrontControllerOptions = {},
): Promise<HttpRequest> {
  const received: HttpRequest[] = []
  const list = (request: HttpRequest): void => void received.push(request)
  const { front, runs } = createWatchedFront({ ...others, [action]: list }, options)
  await front.handle(toRequest(request))
  const [first] = received
  assert.ok(first, runs[0]?.exception.message)
  return first
}

/** Requests /news/list from a front controller with a custom error controller. */
export function handleWith(
  news: Actions,
  error: object,
  options: FrontControllerOptions = {},
): Promise<HttpResponse> {
  return createFront({ news, error }, options).handle(new HttpRequest({ target: '/news/list' }))
}

/** Asserts that a response is the fixed 500, which the loop sends when the error action fails. */
export function assertFixed({ status, headers, body }: HttpResponse): void {
  assert.deepEqual([status, [...headers], body], [500, [...fixed.headers], fixed.body])
}

/** Asserts that an exception is the thrown value, or wraps it. */
export function assertStandsFor(exception: Error | undefined, value: unknown): void {
  if (exception instanceof ThrownValueError) {
    assert.ok(Object.is(exception.value, value))
    assert.equal(exception.code, 0)
    assert.equal(exception.cause, undefined)
  } else {
    assert.ok(Object.is(exception, value))
  }
}

/** Returns type, message and code of the error that the error action received. */
export function factsOf({ type, exception }: ErrorRun): unknown[] {
  return [type, exception.message, (exception as Error & { code?: unknown }).code]
}

/** Returns module, controller and action of a request. */
export function namesOf({ module, controller, action }: HttpRequest): string[] {
  return [module, controller, action]
}

/** Restricts an action to methods. */
export function restricted(action: unknown, ...methods: string[]): unknown {
  return Object.assign(action as object, { methods })
}

/** Fills in every part of a response, as an action that fails half-way. */
export function fillIn(response: HttpResponse): void {
  response.status = 201
  response.renderExceptions = true
  response.headers.set('X-Half', '1').append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=2')
  response.html('<p>half a page')
}

/** An action that throws. */
export function fail(): never {
  throw new Error('raised')
}

/** An action that never ends. */
export function hang(): Promise<never> {
  return new Promise(() => {})
}

/** An action that must not run. */
export function unreachable(): never {
  throw new Error('The action was reached')
}

function toRequest(request: RequestLike): HttpRequest {
  return new HttpRequest(typeof request === 'string' ? { target: request } : request)
}
