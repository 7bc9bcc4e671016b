/**
 * The counts and facts of one process, or the sum of several: plain data that `JSON.stringify()` keeps, bounded by the
 * registered actions, and without a value of a request. Times are milliseconds since the epoch.
 */
export interface Snapshot {
  /** When the counts began; the earliest time of several processes. */
  readonly startedAt: number
  /** Number of serving processes: 1, or the number of workers. */
  readonly workers: number
  /** The requests by route, in the order in which the routes were first requested. */
  readonly routes: readonly RouteCounts[]
  /** The errors of requests, and those outside of any request. */
  readonly errors: readonly ErrorCount[]
  /** The requests that no action serves. */
  readonly unrouted: readonly UnroutedCount[]
  /** The minutes of the last hour with requests, the oldest first. */
  readonly minutes: readonly MinuteCounts[]
  /** The errors by fingerprint, and `(other)` beyond the bound. */
  readonly faults: readonly Fault[]
  /** The failed requests by the shape of their paths, and `(other)` beyond the bound. */
  readonly journal: readonly JournalEntry[]
  /** The limits that requests or connections have hit. */
  readonly limits: readonly LimitCount[]
  /** The connections of the server. */
  readonly server: ServerFacts
  /** The process; several are added, with the worst event loop of them. */
  readonly process: ProcessFacts
}

/** Whether an action (`route`), nothing or a public file serves the requests. */
export type RouteKind = 'route' | 'unrouted' | 'public'

/** The requests of a route. */
export interface RouteCounts {
  /** The name of a named route, `controller/action` or `module/controller/action` as registered; '' for the other kinds. */
  readonly route: string
  /** What serves the requests. */
  readonly kind: RouteKind
  /** Number of requests by method and class of the status. */
  readonly requests: readonly RequestCount[]
  /** Bytes of the bodies of all responses. */
  readonly bytes: number
  /** Number of requests for each of {@link BUCKETS}, not cumulative. */
  readonly buckets: readonly number[]
  /** The sum of all durations, in seconds. */
  readonly durationSum: number
}

/** The requests with one method and one class of statuses. */
export interface RequestCount {
  /** A standard method such as `GET`; `other` for any other. */
  readonly method: string
  /** The first digit of the status: 2 for `2xx`. */
  readonly statusClass: 1 | 2 | 3 | 4 | 5
  /** Number of requests. */
  readonly count: number
}

/** The cause of an error: a rejected request, the server in a request, or the process outside of requests. */
export type ErrorCause = 'client' | 'server' | 'process'

/** The errors of one cause and type on one route. */
export interface ErrorCount {
  /** Their cause. */
  readonly cause: ErrorCause
  /** The type, such as `EXCEPTION_NO_CONTROLLER`. */
  readonly type: string
  /** The route of the request; '' if there is none. */
  readonly route: string
  /** Number of errors. */
  readonly count: number
}

/** The requests of one kind that no action serves. */
export interface UnroutedCount {
  /** The type of the error, or the kind of a sign-in that went astray: `authorization request`, `callback`, `provider page`. */
  readonly kind: string
  /** Number of requests. */
  readonly count: number
}

/** The requests that ended in one minute. */
export interface MinuteCounts {
  /** The start of the minute. */
  readonly at: number
  /** Number of requests. */
  readonly requests: number
  /** Number of responses with a status of 500 or more. */
  readonly errors: number
  /** As in {@link RouteCounts}. */
  readonly buckets: readonly number[]
}

/** The errors with one fingerprint. */
export interface Fault {
  /** The `fingerprint` of their reports. */
  readonly fingerprint: string
  /** The type, such as `EXCEPTION_OTHER`. */
  readonly type: string
  /** The status of the latest response. */
  readonly status: number
  /** The route of the latest request; '' if there is none. */
  readonly route: string
  /** Number of errors. */
  readonly count: number
  /** When the first one occurred. */
  readonly firstAt: number
  /** When the latest one occurred. */
  readonly lastAt: number
  /** The ids of the latest 5 requests, the latest first. */
  readonly ids: readonly string[]
}

/** The requests that failed, with one method, whose paths have one shape. */
export interface JournalEntry {
  /** The path: the names that a report shows, and `<n>` for a segment that varies or may be a value, n from 1: `/signin/v2/<3>`. */
  readonly path: string
  /** A standard method such as `GET`; `other` for any other. */
  readonly method: string
  /** Number of requests. */
  readonly count: number
  /** When the first one ended. */
  readonly firstAt: number
  /** When the latest one ended. */
  readonly lastAt: number
  /** The latest hint of a sign-in that went astray. */
  readonly hint?: string
  /** The parameters that the requests had. */
  readonly params: readonly JournalParam[]
}

/** A parameter of {@link JournalEntry}. */
export interface JournalParam {
  /** The name if it looks like a name, else its shape. */
  readonly name: string
  /** Number of requests with this parameter. */
  readonly count: number
  /** The shapes of its values, such as `token(21)`, and how often each was sent. */
  readonly shapes: readonly ShapeCount[]
}

/** The values of one shape. */
export interface ShapeCount {
  /** Such as `word(5)`; `token(21-34)` for tokens of several lengths. */
  readonly shape: string
  /** Number of values. */
  readonly count: number
}

/** How often a limit was hit. */
export interface LimitCount {
  /** The limit. */
  readonly name: LimitName
  /** Number of requests or connections. */
  readonly count: number
}

/**
 * A limit: of the time to receive a request (408), the body or its fields (413), the target (414), the headers (431), the
 * time of an action (503), and the connections.
 */
export type LimitName =
  | 'receive time'
  | 'body'
  | 'target'
  | 'headers'
  | 'action time'
  | 'connections'

/** The connections of a server, now and since the start. */
export interface ServerFacts {
  /** Number of requests whose responses are not sent yet. */
  readonly inFlight: number
  /** Number of open connections. */
  readonly connections: number
  /** Number of connections since the start that were closed at once, because of `maxConnections`. */
  readonly droppedConnections: number
  /** Number of connections since the start, without the dropped ones. */
  readonly connectionsTotal: number
}

/** The facts of a process. */
export interface ProcessFacts {
  /** CPU time in user code, in seconds. */
  readonly cpuUserS: number
  /** CPU time in the system, in seconds. */
  readonly cpuSystemS: number
  /** Resident memory. */
  readonly residentBytes: number
  /** The used part of the heap. */
  readonly heapUsedBytes: number
  /** The size of the heap. */
  readonly heapTotalBytes: number
  /** Memory outside of the heap. */
  readonly externalBytes: number
  /** Number of open file descriptors; null if the system does not list them. */
  readonly openFds: number | null
  /** The event loop since the snapshot before this one. */
  readonly eventLoop: EventLoopFacts
  /** The version of Portico; '' if unknown. */
  readonly version: string
  /** The version of Node, such as `v20.19.0`. */
  readonly nodeVersion: string
  /** The id of the process; of several, that of the first. */
  readonly pid: number
}

/** The delays of the event loop, in seconds, and its utilization. */
export interface EventLoopFacts {
  /** The mean delay. */
  readonly mean: number
  /** The median of the delays. */
  readonly p50: number
  /** The delay that 90 % did not exceed. */
  readonly p90: number
  /** The delay that 99 % did not exceed. */
  readonly p99: number
  /** The longest delay. */
  readonly max: number
  /** The busy part of the time, from 0 to 1. */
  readonly utilization: number
}

/** Stands for everything beyond a bound: the fingerprint of the last fault, or the path of the last entry of the journal. */
export const OTHER = '(other)'

/** Returns the label of a route: its name, `(unrouted)` or `(public)`. */
export function labelOf({ route, kind }: Pick<RouteCounts, 'route' | 'kind'>): string {
  return kind === 'route' ? route : `(${kind})`
}

/** The facts of an unknown process. */
export const NO_PROCESS: ProcessFacts = {
  cpuUserS: 0,
  cpuSystemS: 0,
  residentBytes: 0,
  heapUsedBytes: 0,
  heapTotalBytes: 0,
  externalBytes: 0,
  openFds: null,
  eventLoop: { mean: 0, p50: 0, p90: 0, p99: 0, max: 0, utilization: 0 },
  version: '',
  nodeVersion: '',
  pid: 0,
}
