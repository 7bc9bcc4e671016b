import {
  type Channel,
  channel,
  type TracingChannel,
  tracingChannel,
} from 'node:diagnostics_channel'
import { isPromiseLike } from '../http/async.ts'
import type { ErrorType } from '../http/errors.ts'
import { statusOf, toError } from '../http/exceptions.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { copied, release } from '../http/retention.ts'
import type { RequestReport } from './error-report.ts'
import { safeClassOf } from './exception-report.ts'
import { fingerprintOf } from './fingerprint.ts'
import { claim } from './ownership.ts'
import { safeNames } from './request-names.ts'

/**
 * The channels of `node:diagnostics_channel`. A message contains safe names and no values.
 */
export const channels: {
  /**
   * The tracing channel `portico.dispatch`, around each call of an action, also of the error action: `start`, then `end`; for
   * an action that returns a promise also `asyncStart` and `asyncEnd`; `error` before the last of them if the action fails.
   * All events of a call have the same {@link DispatchMessage}. A name that leads to no action has no events.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the store may be any value. From 26 on, @types/node has it second.
  readonly dispatch: TracingChannel<any, DispatchMessage> & TracingChannel<DispatchMessage, any>
  /** The channel `portico.report`, with the {@link ErrorReport} of every error, when the response is ready. */
  readonly report: Channel
} = {
  dispatch: tracingChannel('portico.dispatch'),
  report: channel('portico.report'),
}

// Bun has no such property: nothing would be published there.
if (!('hasSubscribers' in channels.dispatch)) {
  const all: readonly Channel[] = Object.values(channels.dispatch)
  const get = (): boolean => all.some((each) => each.hasSubscribers)
  Object.defineProperty(channels.dispatch, 'hasSubscribers', { get })
}

/** The message of all events of a dispatch. Its `route` is a label for metrics, and a name for spans. */
export interface DispatchMessage extends RequestReport {
  /** The status of the response when the action has ended, or that of the error; undefined before. */
  readonly status?: number
  /** The kind of the error that the error action handles; undefined for any other dispatch. */
  readonly type?: ErrorType
  /** Only if the action has failed. */
  readonly error?: DispatchError
}

/** An exception without its message and its stack: an exporter of traces would copy their values. */
export interface DispatchError {
  /** The name of its class, such as `TypeError`. */
  readonly name: string
  /** The fingerprint of its {@link ErrorReport}, which has the details. */
  readonly message: string
}

/** Calls an action, and publishes its events. Makes a message, so the caller checks first that the channel has subscribers. */
export function traced<T>(
  request: HttpRequest,
  response: HttpResponse,
  call: () => T | Promise<T>,
): T | Promise<T> {
  const { start, end, asyncStart, asyncEnd, error } = channels.dispatch
  const message = toMessage(request)
  const holder = { request, response }
  const succeed = (value: T): T => {
    Object.assign(message, { status: holder.response.status })
    release(holder)
    return value
  }
  const fail = (thrown: unknown): Error => {
    // Thrown in place of the value, so that the report finds the same texts.
    const exception = toError(thrown)
    Object.assign(message, outcomeOf(exception, holder.request, holder.response))
    release(holder)
    error.publish(message)
    return exception
  }
  const endAsync = <Value>(value: Value): Value => {
    asyncStart.runStores(message, () => asyncEnd.publish(message))
    return value
  }
  return start.runStores(message, () => {
    try {
      const returned = call()
      if (!isPromiseLike(returned)) return succeed(returned)
      return returned.then(
        (value) => endAsync(succeed(value)),
        (thrown) => {
          throw endAsync(fail(thrown))
        },
      )
    } catch (thrown) {
      throw fail(thrown)
    } finally {
      end.publish(message)
    }
  })
}

function toMessage(request: HttpRequest): DispatchMessage {
  const { id, method, route, errorHandler } = request
  // The names may be parts of the target, and a subscriber may keep the message.
  const names = copied(safeNames(request))
  return { id, method, ...names, route, ...(errorHandler && { type: errorHandler.type }) }
}

function outcomeOf(
  exception: Error,
  request: HttpRequest,
  response: HttpResponse,
): Pick<DispatchMessage, 'status' | 'error'> {
  const failed = request.errorHandler?.request ?? request
  const status = statusOf(exception)
  // As in the report: if the error action failed, its exception comes second.
  const exceptions = [...response.exceptions, exception]
  claim(exceptions, failed)
  // The fingerprint scrubs the exception, and the report shows the result.
  stateOf(failed).message.hideCookies(response.headers)
  const message = copied(fingerprintOf({ exceptions, request: failed, status }))
  return { status, error: { name: safeClassOf(exception), message } }
}
