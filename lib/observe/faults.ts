import { typeOf } from '../http/exceptions.ts'
import { copyOf } from '../http/params.ts'
import { stateOf } from '../http/request.ts'
import { type Failure, isRejection } from '../reporting/failure.ts'
import { fingerprintOf } from '../reporting/fingerprint.ts'
import type { Fault } from './snapshot.ts'
import { addFaults, MAX_FAULTS, otherFaults } from './sum-snapshots.ts'

/** The errors by fingerprint. Bounded, with exact counts: the oldest one makes room. */
export class Faults {
  // Apart, because the thousand kinds of 404 of a scanner must not hide faults.
  readonly #faults = new Bounded()
  readonly #rejections = new Bounded()

  /** Records the error of a request, or an error outside of any request. */
  record(failure: Failure, route: string | null): void {
    const { exceptions, request, status } = failure
    const [exception] = exceptions
    if (exception === undefined) return
    // A report has a fingerprint already, and an id if somebody can find the error by it.
    const reported = request && stateOf(request).message.reported
    const fingerprint = copyOf(reported?.fingerprint ?? fingerprintOf(failure))
    const kept = isRejection(failure) ? this.#rejections : this.#faults
    const now = Date.now()
    kept.add({
      fingerprint,
      type: typeOf(exception),
      status,
      route: route ?? '',
      count: 1,
      firstAt: now,
      lastAt: now,
      ids: reported?.id === undefined ? [] : [reported.id],
    })
  }

  get list(): readonly Fault[] {
    const others = [...this.#faults.others, ...this.#rejections.others]
    const all = [...this.#faults.values(), ...this.#rejections.values()]
    return others.length === 0 ? all : [...all, otherFaults(others)]
  }
}

// The latest faults, in the order of their last occurrence, and what the older ones have become.
class Bounded {
  readonly #latest = new Map<string, Fault>()
  #others: Fault | undefined

  add(fault: Fault): void {
    const { fingerprint } = fault
    const known = this.#latest.get(fingerprint)
    this.#latest.delete(fingerprint)
    this.#latest.set(fingerprint, known === undefined ? fault : addFaults(fault, known))
    if (this.#latest.size <= MAX_FAULTS / 2) return
    const [oldest] = this.#latest.values()
    if (oldest === undefined) return
    this.#latest.delete(oldest.fingerprint)
    this.#others = this.#others === undefined ? oldest : addFaults(oldest, this.#others)
  }

  values(): Iterable<Fault> {
    return this.#latest.values()
  }

  get others(): readonly Fault[] {
    return this.#others === undefined ? [] : [this.#others]
  }
}
