import type { Snapshot } from './snapshot.ts'
import { endedSnapshot, sumSnapshots } from './sum-snapshots.ts'

/** The latest snapshots of several processes. The counts of a process that has ended stay in the sum. */
export class SnapshotPool {
  readonly #latest = new Map<number, Snapshot>()
  #ended: Snapshot | undefined

  /** Keeps the latest snapshot of a process. */
  keep(id: number, snapshot: Snapshot): void {
    this.#latest.set(id, snapshot)
  }

  /** Adds all snapshots to that of the supervisor, which serves no requests itself. */
  sum(own: Snapshot, isRunning: (id: number) => boolean): Snapshot {
    for (const [id, snapshot] of this.#latest) {
      if (isRunning(id)) continue
      this.#latest.delete(id)
      const ended = endedSnapshot(snapshot)
      this.#ended = this.#ended === undefined ? ended : sumSnapshots([this.#ended, ended])
    }
    const ended = this.#ended === undefined ? [] : [this.#ended]
    return sumSnapshots([{ ...own, workers: 0 }, ...ended, ...this.#latest.values()])
  }
}
