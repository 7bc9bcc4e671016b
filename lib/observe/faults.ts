import { typeOf } from '../http/exceptions.ts'
import { stateOf } from '../http/request.ts'
import { copyOf } from '../http/retention.ts'
import { type Failure, isRejection } from '../reporting/failure.ts'
import { fingerprintOf } from '../reporting/fingerprint.ts'
import type { Fault } from './snapshot.ts'
import { addFaults, MAX_FAULTS, MAX_IDS, otherFaults } from './sum-snapshots.ts'

/** The errors by fingerprint, with exact counts. Bounded: the oldest fault is joined to the others. */
export class Faults {
  // Two lists, because the thousand kinds of 404 of a scanner must not hide faults.
  readonly #faults = new LatestFaults()
  readonly #rejections = new LatestFaults()

  /** Records the error of a request, or an error outside of any request. */
  record(failure: Failure, route: string | null): void {
    const { exceptions, request, status } = failure
    const [exception] = exceptions
    if (exception === undefined) return
    // A report already has a fingerprint, and an id if the error can be found by it.
    const reported = request && stateOf(request).message.reported
    const known = reported?.exception === exceptions.at(-1) ? reported?.fingerprint : undefined
    const kept = isRejection(failure) ? this.#rejections : this.#faults
    const fault = kept.faultOf(known ?? fingerprintOf(failure), typeOf(exception))
    fault.status = status
    fault.route = route ?? ''
    fault.count++
    fault.lastAt = Date.now()
    if (reported?.id === undefined) return
    fault.ids.unshift(reported.id)
    if (fault.ids.length > MAX_IDS) fault.ids.pop()
  }

  get list(): readonly Fault[] {
    const kept = [this.#faults, this.#rejections]
    const others = kept.flatMap((each) => each.others ?? [])
    const all: Fault[] = kept.flatMap((each) => [...each.latest.values()])
    if (others.length > 0) all.push(otherFaults(others))
    return structuredClone(all)
  }
}

/** A fault whose further errors are counted. */
type Counted = { -readonly [Name in keyof Fault]: Fault[Name] } & { readonly ids: string[] }

// The latest faults, and one that the older ones are joined to.
class LatestFaults {
  readonly latest = new Map<string, Counted>()
  others: Fault | undefined

  /** Returns the fault with a fingerprint. A new one has no error yet. */
  faultOf(fingerprint: string, type: string): Counted {
    const known = this.latest.get(fingerprint)
    if (known !== undefined) return known
    if (this.latest.size === MAX_FAULTS / 2) this.#joinOldest()
    const firstAt = Date.now()
    const fault: Counted = {
      fingerprint: copyOf(fingerprint),
      type,
      status: 0,
      route: '',
      count: 0,
      firstAt,
      lastAt: firstAt,
      ids: [],
    }
    this.latest.set(fault.fingerprint, fault)
    return fault
  }

  // Joins a fault of the action with the most faults to the others, because a client may forge the frames of one. Of these, joins
  // the fault with the earliest `lastAt`; of several, the one that occurred first.
  #joinOldest(): void {
    const sizes = new Map<string, number>()
    for (const fault of this.latest.values()) {
      const action = actionOf(fault)
      sizes.set(action, (sizes.get(action) ?? 0) + 1)
    }
    const most = Math.max(...sizes.values())
    const all = [...this.latest.values()].filter((fault) => sizes.get(actionOf(fault)) === most)
    const oldest = all.reduce((one, other) => (other.lastAt < one.lastAt ? other : one))
    this.latest.delete(oldest.fingerprint)
    this.others = this.others ? addFaults(oldest, this.others) : oldest
  }
}

// The last word of a fingerprint.
function actionOf({ fingerprint }: Fault): string {
  return fingerprint.slice(fingerprint.lastIndexOf(' '))
}
