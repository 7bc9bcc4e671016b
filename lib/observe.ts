/** @module portico/observe */

export { type Exposition, toMetrics } from './observe/exposition.ts'
export { BUCKETS, quantile } from './observe/histogram.ts'
export {
  createObserver,
  type Observer,
  type ObserverListenOptions,
  type ObserverOptions,
  type OperatorServer,
} from './observe/observer.ts'
export type {
  ErrorCause,
  ErrorCount,
  EventLoopFacts,
  Fault,
  JournalEntry,
  JournalParam,
  LimitCount,
  LimitName,
  MinuteCounts,
  ProcessFacts,
  RequestCount,
  RouteCounts,
  RouteKind,
  ServerFacts,
  ShapeCount,
  Snapshot,
  UnroutedCount,
} from './observe/snapshot.ts'
export { sumSnapshots } from './observe/sum-snapshots.ts'
export { watchProcess } from './process/process-facts.ts'
