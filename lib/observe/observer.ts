import { checkNames } from '../http/check-options.ts'
import { toError } from '../http/exceptions.ts'
import { forgetLastMatch } from '../http/retention.ts'
import { failureOf, isClientGoneOnly } from '../reporting/failure.ts'
import { recognizeSignIn } from '../reporting/sign-in-hint.ts'
import type { Access } from '../server/handler.ts'
import { httpUrl, type Service } from '../server/serve.ts'
import type { ServerCounts } from '../server/server-counts.ts'
import { Faults } from './faults.ts'
import { Journal } from './journal.ts'
import { serveOperator } from './operator-server.ts'
import { limitsByStatus, type Recorded, Recorder, routeOf } from './recorder.ts'
import {
  type ErrorCount,
  type LimitCount,
  NO_PROCESS,
  type ProcessFacts,
  type Snapshot,
} from './snapshot.ts'
import { keyOfError, sumCounts } from './sum-snapshots.ts'

/** Options of {@link createObserver}. */
export interface ObserverOptions {
  /** Returns the facts of the process (default: no metrics of the process): {@link watchProcess}. */
  readonly processFacts?: (() => ProcessFacts) | undefined
}

/** Options of {@link Observer.listen}. */
export interface ObserverListenOptions {
  /** The port; 0 picks a free one. */
  readonly port: number
  /** The address to listen on (default `127.0.0.1`). */
  readonly host?: string | undefined
  /** Reports whether the process accepts requests (default: always). If it fails, or takes longer than 3 seconds, the process does not. */
  readonly isReady?: (() => boolean | Promise<boolean>) | undefined
  /** The settings that the page shows, by name (default none). Leave out what is secret. */
  readonly config?: Readonly<Record<string, string>> | undefined
}

/** A server that shows an operator what a service does. */
export interface OperatorServer {
  /** Such as `http://127.0.0.1:3001`. */
  readonly url: string
  /** Closes the server. */
  readonly close: () => void
}

/** Counts what a service does, and shows it. All functions may be called without the object. */
export interface Observer {
  /** Counts a request: the option `onAccess` of `serve()`. */
  readonly onAccess: (access: Access) => void
  /** Counts an error outside of any request. */
  readonly recordError: (error: unknown) => void
  /** Adds the connections of a service to the snapshots. */
  readonly watch: (service: Pick<Service, 'counts'>) => void
  /** Returns all counts since the start. */
  readonly snapshot: () => Snapshot
  /**
   * Serves a page at `/`, its data as `/journal.json`, `/metrics`, `/livez` and `/readyz`. Only operators may be able
   * to reach the port. A request, except for the probes, needs a `Host` that is an address, `host`, or a name that is not
   * public (`localhost`, `app`, `app.internal`).
   *
   * @throws {Error} If the server cannot listen, for example because the port is in use.
   */
  readonly listen: (options: ObserverListenOptions) => Promise<OperatorServer>
}

/**
 * Creates an observer. A count has the route of a request, its method and the class of its status, and no value of it: the
 * number of counts is bounded by the registered actions.
 *
 * @example
 * const observer = createObserver({ processFacts: watchProcess() })
 * const service = await serve(front, { onAccess: observer.onAccess })
 * observer.watch(service)
 * await observer.listen({ port: 3001 })
 * @throws {TypeError} If an option is unknown.
 */
export function createObserver(options: ObserverOptions = {}): Observer {
  checkNames('options', options, ['processFacts'])
  const startedAt = Date.now()
  const recorder = new Recorder()
  const faults = new Faults()
  const journal = new Journal()
  const services = new Set<Pick<Service, 'counts'>>()
  const serviceCounts = (): ServerCounts[] => [...services].map(({ counts }) => counts)
  const snapshot = (): Snapshot => ({
    startedAt,
    workers: 1,
    ...withServices(recorder.counts, serviceCounts()),
    faults: faults.list,
    journal: journal.entries,
    process: options.processFacts?.() ?? NO_PROCESS,
  })
  return {
    onAccess(access) {
      const route = routeOf(access)
      recorder.record(access, route)
      const { exceptions, request } = access.response
      if (exceptions.length === 0) return
      const failure = failureOf(access.response)
      if (isClientGoneOnly(failure)) return
      recorder.recordExceptions(access.response, route)
      if (request === undefined) return
      faults.record(failure, route)
      journal.record(request, recognizeSignIn(failure)?.hint)
      forgetLastMatch()
    },
    recordError(error) {
      const exception = toError(error)
      recorder.recordError(exception, 'process')
      faults.record({ exceptions: [exception], request: undefined, status: 500 }, null)
    },
    watch: (service) => void services.add(service),
    snapshot,
    async listen({ port, host = '127.0.0.1', isReady = () => true, config = {} }) {
      const shown = { isReady, config, snapshot }
      const server = await serveOperator({ port, host, isLocalOnly: false, ...shown })
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      return { url: httpUrl(host, bound), close: () => void server.close() }
    },
  }
}

// Adds the connections of services, and the messages that were not valid requests.
function withServices(
  { errors, limits, ...recorded }: Recorded,
  services: readonly ServerCounts[],
): Recorded & Pick<Snapshot, 'server'> {
  const total = (read: (counts: ServerCounts) => number): number =>
    services.reduce((sum, counts) => sum + read(counts), 0)
  const server = {
    inFlight: total(({ inFlight }) => inFlight),
    connections: total(({ connections }) => connections),
    droppedConnections: total(({ droppedConnections }) => droppedConnections),
    connectionsTotal: total(({ connectionsTotal }) => connectionsTotal),
  }
  const rejections = services.flatMap((counts) => Object.entries(counts.rejections))
  const rejected = rejections.map(([, count]): ErrorCount => {
    return { cause: 'client', type: 'EXCEPTION_OTHER', route: '', count }
  })
  const hits = rejections.flatMap(([status, count]): LimitCount[] => {
    const name = limitsByStatus.get(Number(status))
    return name === undefined ? [] : [{ name, count }]
  })
  const { droppedConnections: count } = server
  if (count > 0) hits.push({ name: 'connections', count })
  return {
    ...recorded,
    errors: sumCounts([errors, rejected], keyOfError),
    limits: sumCounts([limits, hits], ({ name }) => name),
    server,
  }
}
