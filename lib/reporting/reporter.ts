import { toError } from '../http/exceptions.ts'
import { stateOf } from '../http/request.ts'
import { forgetLastMatch, outsideRequests } from '../http/retention.ts'
import { channels } from './diagnostics.ts'
import { type ErrorReport, makeReport, type ReportOptions } from './error-report.ts'
import { bothEnds, type ExceptionReport } from './exception-report.ts'
import { type Failure, isClientGoneOnly, isRejection } from './failure.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { Logger } from './log.ts'
import { type Detail, FaultBudget, type NoiseBudget, RejectionBudget } from './noise-budget.ts'
import { claim } from './ownership.ts'

/** Options of a {@link Reporter}. */
export interface ReporterOptions extends ReportOptions {
  readonly logger: Logger | undefined
  /** Receives the report of every error, including those that the log only counts. */
  readonly onReport: ((report: ErrorReport) => unknown) | undefined
  /** Whether to log every error in full. */
  readonly development: boolean
}

/** The decision about the report of an error. It is made before the response is created. */
export interface Admission {
  readonly detail: Detail
  /** Undefined if nothing is reported. */
  readonly fingerprint: string | undefined
  /** The id that the response may show; undefined if the error cannot be found by it. */
  readonly id: string | undefined
}

const SUMMARY_INTERVAL_MS = 60_000
// Maximum characters of the kinds in a summary: the log would remove them all from a line that is too long.
const MAX_KINDS_LENGTH = 1_500
// The fields of a short line, besides its message.
const SHORT_FIELDS = [
  'id',
  'requestId',
  'traceId',
  'fingerprint',
  'status',
  'method',
  'module',
  'controller',
  'action',
  'route',
] as const
const NOTHING: Admission = { detail: 'count', fingerprint: undefined, id: undefined }

/**
 * Reports errors: all to `onReport` and to the diagnostics channel, and within the noise budget to
 * the log. Makes a report only if one of them reads it.
 */
export class Reporter {
  readonly #options: ReporterOptions
  // Three budgets, because the thousand kinds of 404 of a scanner must not hide faults, and each of them may make an observer fail.
  readonly #faults = new FaultBudget()
  readonly #rejections = new RejectionBudget()
  readonly #observers = new FaultBudget()
  #timer: NodeJS.Timeout | undefined

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  /**
   * Decides how an error is reported, and spends the budget for it. Never throws. Without a log, an
   * error counts as logged if `onReport` or a subscriber of the channel receives it.
   *
   * @param first The decision about the first of two exceptions, which share one line of the log.
   */
  admit(failure: Failure, first?: Admission): Admission {
    try {
      return this.#admit(failure, first)
    } catch (error) {
      this.#logObserverError(error)
      return NOTHING
    }
  }

  /**
   * Reports an error. Never throws: an observer that fails must not cause another error.
   *
   * @param first The decision about the first exception, if {@link admit} has made it.
   */
  report(failure: Failure, first?: Admission): void {
    // The failure of the error action is another error than the one that was admitted.
    const { exceptions } = failure
    const isSame = first !== undefined && exceptions.length === 1
    const { detail, fingerprint, id } = isSame ? first : this.admit(failure, first)
    const message = failure.request && stateOf(failure.request).message
    if (message && fingerprint !== undefined) {
      const { reported } = message
      // at() calls the runtime of V8, because the list is frozen.
      const exception = exceptions[exceptions.length - 1]
      // The error of the response replaces those that the application has reported for the request.
      if (first !== undefined || reported === undefined)
        message.reported = { exception, fingerprint, id: id ?? reported?.id }
      else reported.id ??= id
    }
    try {
      if (fingerprint !== undefined) this.#publish(failure, detail, fingerprint)
    } catch (error) {
      this.#logObserverError(error)
    }
    forgetLastMatch()
  }

  /** Logs the counts of errors at once, as at the end of a process, and renews the budgets. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const budgets = [this.#faults, this.#observers, this.#rejections]
    for (const budget of budgets) budget.renew()
    const summaries = budgets.map(({ counts }) => counts.takeSummary())
    const total = summaries.reduce((sum, summary) => sum + summary.total, 0)
    if (total === 0) return
    const kinds: Record<string, number> = {}
    let left = MAX_KINDS_LENGTH
    // The faults come first.
    for (const [kind, count] of summaries.flatMap((summary) => Object.entries(summary.kinds))) {
      left -= kind.length
      if (left >= 0) kinds[kind] = (kinds[kind] ?? 0) + count
    }
    // Nothing else catches this error: a timer calls this method, or the end of a service.
    try {
      this.#options.logger?.warn(
        { event: 'errors', total, kinds },
        `${total} more ${total === 1 ? 'error' : 'errors'}`,
      )
    } catch (error) {
      this.#logObserverError(error)
    }
  }

  #admit(failure: Failure, first: Admission | undefined): Admission {
    const { logger } = this.#options
    // Claims before the check below: a later request may report an exception that this one does not.
    claim(failure.exceptions, failure.request)
    if ((logger === undefined && !this.#isObserved()) || isClientGoneOnly(failure)) return NOTHING
    const fingerprint = fingerprintOf(failure)
    const spent = this.#detailOf(this.#budgetOf(failure), fingerprint)
    // The response shows the id of an error that was admitted in full.
    const detail = first?.detail === 'full' ? 'full' : spent
    const isFindable = logger === undefined || detail !== 'count'
    const id = isFindable ? failure.request?.id : undefined
    return { detail, fingerprint, id }
  }

  #detailOf(budget: NoiseBudget, fingerprint: string): Detail {
    // Starts the timer even if nothing is logged, because the flush also resets the counts.
    this.#timer ??= outsideRequests(() =>
      setTimeout(() => this.flush(), SUMMARY_INTERVAL_MS).unref(),
    )
    if (!this.#isLogged(budget === this.#rejections ? 'warn' : 'error')) return 'count'
    if (this.#options.development) return 'full'
    return budget.spend(fingerprint)
  }

  #budgetOf(failure: Failure): NoiseBudget {
    return isRejection(failure) ? this.#rejections : this.#faults
  }

  #isLogged(level: 'warn' | 'error'): boolean {
    const { logger } = this.#options
    return logger !== undefined && (logger.isLevelEnabled?.(level) ?? true)
  }

  #isObserved(): boolean {
    return this.#options.onReport !== undefined || channels.report.hasSubscribers
  }

  #publish(failure: Failure, detail: Detail, fingerprint: string): void {
    if (detail === 'count') {
      this.#budgetOf(failure).counts.add(fingerprint)
      if (!this.#isObserved()) return
    }
    const { onReport } = this.#options
    const id = failure.request?.id ?? crypto.randomUUID()
    const report = makeReport(id, { ...failure, fingerprint }, this.#options)
    try {
      if (detail !== 'count') this.#log(report, detail)
    } catch (error) {
      this.#logObserverError(error)
    }
    if (channels.report.hasSubscribers) channels.report.publish(report)
    Promise.resolve(onReport?.(report)).catch((error) => this.#logObserverError(error))
  }

  // Leaves out the time, because a logger adds its own.
  #log({ time: _, ...report }: ErrorReport, detail: Detail): void {
    const { status, second = report } = report
    const message = detail === 'short' ? withReason(second) : report.message
    const short = SHORT_FIELDS.filter((name) => name in report).map((name) => [name, report[name]])
    // The error action may have turned a fault into a 404, and the response shows its id.
    const level = status >= 500 || !this.#isLogged('warn') ? 'error' : 'warn'
    const fields = detail === 'full' ? report : { ...Object.fromEntries(short), message }
    this.#options.logger?.[level]({ event: 'error', ...fields }, message)
  }

  #logObserverError(thrown: unknown): void {
    try {
      const failure = { exceptions: [toError(thrown)], status: 500 }
      claim(failure.exceptions, undefined)
      const fingerprint = `observer ${fingerprintOf(failure)}`
      if (this.#detailOf(this.#observers, fingerprint) !== 'full') {
        this.#observers.counts.add(fingerprint)
        return
      }
      const { name, message, stack } = makeReport('', failure, this.#options)
      const fields = { event: 'observer', fingerprint, name, stack }
      this.#options.logger?.error(fields, `An observer of errors failed: ${message}`)
    } catch {
      // The logger itself failed: there is no other place to report to.
    }
  }
}

// Returns the message of an exception, and that of its innermost cause: `fetch failed: connect ECONNREFUSED 127.0.0.1:80`.
function withReason(report: ExceptionReport): string {
  const { message } = report
  const reason = innermostOf(report).message
  if (message.includes(reason)) return message
  return message === '' ? reason : bothEnds(`${message}: ${reason}`)
}

function innermostOf(report: ExceptionReport): ExceptionReport {
  const inner = report.previous ?? report.errors?.[0]
  return inner === undefined ? report : innermostOf(inner)
}
