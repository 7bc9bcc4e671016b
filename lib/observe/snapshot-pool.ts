import type { RouteCounts, Snapshot } from './snapshot.ts'
import { endedSnapshot } from './sum-processes.ts'
import { sumSnapshots } from './sum-snapshots.ts'

/** A part of a snapshot, in the order in which they are sent. */
export interface SnapshotPart {
  readonly routes: readonly RouteCounts[]
  /** All but the routes: only of the last part. */
  readonly rest?: Omit<Snapshot, 'routes'>
}

// Maximum routes of a part: writing their JSON takes less than 1 ms.
const PART_ROUTES = 500

/** Divides a snapshot into messages: the JSON of one with thousands of routes would delay requests. */
export function* splitSnapshot({ routes, ...rest }: Snapshot): Iterable<SnapshotPart> {
  let first = 0
  for (; routes.length - first > PART_ROUTES; first += PART_ROUTES) {
    yield { routes: routes.slice(first, first + PART_ROUTES) }
  }
  yield { routes: routes.slice(first), rest }
}

/** The latest snapshots of several processes. The counts of a process that has ended stay in the sum. */
export class SnapshotPool {
  readonly #latest = new Map<number, Snapshot>()
  // The routes of the snapshots whose last part has not arrived.
  readonly #incomplete = new Map<number, readonly RouteCounts[]>()
  // One snapshot at most: the sum of those of the processes that have ended.
  #ended: readonly Snapshot[] = []

  /** Keeps the next part of a snapshot of a process. The last part replaces the snapshot that the process sent before. */
  keep(id: number, { routes, rest }: SnapshotPart): void {
    const all = [...(this.#incomplete.get(id) ?? []), ...routes]
    if (rest === undefined) {
      this.#incomplete.set(id, all)
      return
    }
    this.#incomplete.delete(id)
    this.#latest.set(id, { ...rest, routes: all })
  }

  /** Adds all snapshots to that of the supervisor, which serves no requests itself. */
  sum(own: Snapshot, isRunning: (id: number) => boolean): Snapshot {
    for (const id of this.#incomplete.keys()) if (!isRunning(id)) this.#incomplete.delete(id)
    for (const [id, snapshot] of this.#latest) {
      if (isRunning(id)) continue
      this.#latest.delete(id)
      this.#ended = [sumSnapshots([...this.#ended, endedSnapshot(snapshot)])]
    }
    return sumSnapshots([{ ...own, workers: 0 }, ...this.#ended, ...this.#latest.values()])
  }
}
