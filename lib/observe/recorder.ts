import { isClientGone, statusOf, typeOf } from '../http/exceptions.ts'
import { stateOf } from '../http/request.ts'
import { STANDARD_METHODS } from '../http/request-line.ts'
import type { HttpResponse } from '../http/response.ts'
import { outsideRequests } from '../http/retention.ts'
import { type Failure, isRejection } from '../reporting/failure.ts'
import { kindOfSignIn } from '../reporting/sign-in-hint.ts'
import type { Access } from '../server/handler.ts'
import { bucketOf, emptyBuckets } from './histogram.ts'
import {
  type ErrorCause,
  type ErrorCount,
  type LimitName,
  labelOf,
  type MinuteCounts,
  type RequestCount,
  type RouteCounts,
  type RouteKind,
  type Snapshot,
} from './snapshot.ts'
import { keyOfError, MAX_MINUTES } from './sum-snapshots.ts'

/** The counts of a {@link Recorder}. */
export type Recorded = Pick<Snapshot, 'routes' | 'errors' | 'unrouted' | 'minutes' | 'limits'>

const MINUTE_MS = 60_000

/** The limit that an error with a status has hit. A 503 is one only if the action took too long. */
export const limitsByStatus: ReadonlyMap<number, LimitName> = new Map([
  [408, 'receive time'],
  [413, 'body'],
  [414, 'target'],
  [431, 'headers'],
  [503, 'action time'],
])

/**
 * Counts requests by route. A request allocates nothing; an error may. The number of counts is bounded by the registered
 * actions.
 */
export class Recorder {
  readonly #routes = new Map<string, RouteRecord>()
  readonly #errors = new Counts<Omit<ErrorCount, 'count'>>()
  readonly #unrouted = new Counts<{ readonly kind: string }>()
  readonly #limits = new Counts<{ readonly name: LimitName }>()
  readonly #minutes: MinuteRecord[] = []
  #minute: MinuteRecord | undefined

  /** Counts a request whose response has been sent, or whose client has left. */
  record({ method, response, bytes, durationMs }: Access, route: string | null): void {
    const seconds = durationMs / 1_000
    const bucket = bucketOf(seconds)
    const record = (route !== null && this.#routes.get(route)) || this.#newRecord(route, response)
    record.add(method, response.status, bytes, seconds, bucket)
    this.#minute ??= this.#newMinute()
    this.#minute.add(response.status, bucket)
  }

  /** Counts the exceptions of a request whose client has not left. */
  recordExceptions({ exceptions, request, status }: HttpResponse, route: string | null): void {
    const [first, ...others] = exceptions
    if (first === undefined) return
    const own = statusOf(first)
    // With an exception of the error action, the response may have another status than the first one.
    const worst = others.length === 0 ? Math.max(own, status) : own
    const cause = causeOf({ exceptions: [first], request, status: worst })
    this.recordError(first, cause, route ?? '')
    for (const other of others) {
      // The error action has failed, whatever status its exception has.
      this.recordError(other, isClientGone(other, request) ? 'client' : 'server', route ?? '')
    }
    const limit = limitsByStatus.get(own)
    const isLate = (): boolean => request?.signal.reason === first
    if (limit && (limit !== 'action time' || isLate())) this.#limits.add(limit, { name: limit })
    if (route !== null || request === undefined) return
    const signIn = own === 404 ? kindOfSignIn(request) : undefined
    const kind = signIn ?? typeOf(first)
    this.#unrouted.add(kind, { kind })
  }

  /** Counts an error of a request, or one outside of any request. */
  recordError(error: Error, cause: ErrorCause, route = ''): void {
    const counted = { cause, type: typeOf(error), route }
    this.#errors.add(keyOfError(counted), counted)
  }

  get counts(): Recorded {
    const first = Date.now() - MAX_MINUTES * MINUTE_MS
    return {
      routes: [...this.#routes.values()].map((record) => record.counts),
      errors: this.#errors.list,
      unrouted: this.#unrouted.list,
      limits: this.#limits.list,
      minutes: this.#minutes.filter(({ at }) => at > first).map((minute) => minute.counts),
    }
  }

  #newRecord(route: string | null, response: HttpResponse): RouteRecord {
    const isPublic = response.request && stateOf(response.request).message.isPublicFile
    const kind = route !== null ? 'route' : isPublic ? 'public' : 'unrouted'
    const label = labelOf({ route: route ?? '', kind })
    const record = this.#routes.get(label) ?? new RouteRecord(route ?? '', kind)
    this.#routes.set(label, record)
    return record
  }

  // A timer ends the minute: reading the clock took half of the time to count a request.
  #newMinute(): MinuteRecord {
    const now = Date.now()
    const age = now % MINUTE_MS
    const minute = new MinuteRecord(now - age)
    this.#minutes.push(minute)
    if (this.#minutes.length > MAX_MINUTES) this.#minutes.shift()
    const end = (): void => {
      this.#minute = undefined
    }
    outsideRequests(() => setTimeout(end, MINUTE_MS - age).unref())
    return minute
  }
}

/** Returns the route of a request. No action serves a message that is not valid HTTP, whatever its target names. */
export function routeOf({ response, route }: Access): string | null {
  const isRejected = response.exceptions.length > 0 && response.request?.rejection !== undefined
  return isRejected ? null : route
}

function causeOf(failure: Failure): ErrorCause {
  return isRejection(failure) ? 'client' : 'server'
}

class RouteRecord {
  readonly #route: string
  readonly #kind: RouteKind
  // The numbers of responses by the first digit of their status, by method.
  readonly #methods = new Map<string, number[]>()
  readonly #buckets = emptyBuckets()
  #bytes = 0
  #durationSum = 0

  constructor(route: string, kind: RouteKind) {
    this.#route = route
    this.#kind = kind
  }

  add(method: string, status: number, bytes: number, seconds: number, bucket: number): void {
    const classes = this.#methods.get(method) ?? this.#classesOf(method)
    const statusClass = Math.floor(status / 100)
    classes[statusClass] = (classes[statusClass] ?? 0) + 1
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
    this.#bytes += bytes
    this.#durationSum += seconds
  }

  get counts(): RouteCounts {
    // With flatMap(), the snapshot of 10,000 routes took twice the time.
    const requests: RequestCount[] = []
    for (const [method, classes] of this.#methods) {
      for (let statusClass = 1; statusClass < classes.length; statusClass++) {
        const count = classes[statusClass] ?? 0
        if (count === 0) continue
        requests.push({ method, statusClass: statusClass as RequestCount['statusClass'], count })
      }
    }
    return {
      route: this.#route,
      kind: this.#kind,
      requests,
      bytes: this.#bytes,
      buckets: [...this.#buckets],
      durationSum: this.#durationSum,
    }
  }

  // A client can send any method.
  #classesOf(method: string): number[] {
    const name = STANDARD_METHODS.includes(method) ? method : 'other'
    const classes = this.#methods.get(name) ?? [0, 0, 0, 0, 0, 0]
    this.#methods.set(name, classes)
    return classes
  }
}

class MinuteRecord {
  readonly at: number
  readonly #buckets = emptyBuckets()
  #requests = 0
  #errors = 0

  constructor(at: number) {
    this.at = at
  }

  add(status: number, bucket: number): void {
    this.#requests++
    if (status >= 500) this.#errors++
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
  }

  get counts(): MinuteCounts {
    const { at } = this
    return { at, requests: this.#requests, errors: this.#errors, buckets: [...this.#buckets] }
  }
}

// Counts by a key, with the labels of each count.
class Counts<Labels extends object> {
  readonly #counts = new Map<string, Labels & { count: number }>()

  add(key: string, labels: Labels): void {
    const known = this.#counts.get(key)
    if (known === undefined) this.#counts.set(key, { ...labels, count: 1 })
    else known.count++
  }

  get list(): (Labels & { count: number })[] {
    return [...this.#counts.values()].map((each) => ({ ...each }))
  }
}
