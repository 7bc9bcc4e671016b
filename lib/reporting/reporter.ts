import { factsOf, isClientGone, read } from '../http/exceptions.ts'
import { channels } from './diagnostics.ts'
import { type ErrorReport, type Fault, makeReport, type ReportOptions } from './error-report.ts'
import type { Logger } from './logger.ts'
import { NoiseBudget } from './noise-budget.ts'
import { safeNames } from './request-names.ts'
import { safeName } from './shape.ts'

/** What a {@link Reporter} is made from. */
export interface ReporterOptions extends ReportOptions {
  readonly logger: Logger | undefined
  /** Is handed every error, those too that the log only counts. */
  readonly onReport: ((report: ErrorReport) => unknown) | undefined
}

const SUMMARY_INTERVAL_MS = 60_000

/**
 * Tells of errors: to the log within the noise budget, to `onReport` and to the diagnostics channel
 * every one of them. Where nobody listens no report is made.
 */
export class Reporter {
  readonly #options: ReporterOptions
  // A scanner's thousand kinds of 404 must not use up what the faults of the server need.
  readonly #faults = new NoiseBudget()
  readonly #rejections = new NoiseBudget()
  #timer: NodeJS.Timeout | undefined

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  /** Never throws: who is told of an error must not become another one. */
  report(fault: Fault): void {
    if (isLeaving(fault)) return
    try {
      this.#tell(fault)
    } catch (error) {
      this.#observerFailed(error)
    }
  }

  #tell(fault: Fault): void {
    const { logger, onReport } = this.#options
    const inFull = logger !== undefined && this.#admits(fault)
    if (!inFull && onReport === undefined && !channels.error.hasSubscribers) return

    const report = makeReport(fault.request?.id ?? crypto.randomUUID(), fault, this.#options)
    if (inFull) write(logger, report)
    if (channels.error.hasSubscribers) channels.error.publish(report)
    Promise.resolve(onReport?.(report)).catch((error) => this.#observerFailed(error))
  }

  #observerFailed(error: unknown): void {
    try {
      const name = safeName(String(read(error, 'name')))
      this.#options.logger?.error({ event: 'observer', name }, 'Telling of an error has failed')
    } catch {
      // The logger itself is what fails: there is nobody left to tell.
    }
  }

  /** Writes the summary now: at the end of a process, say. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const summaries = [this.#faults.takeSummary(), this.#rejections.takeSummary()]
    const total = summaries.reduce((sum, summary) => sum + summary.total, 0)
    if (total === 0) return
    const kinds: Record<string, number> = {}
    for (const [kind, count] of summaries.flatMap((summary) => Object.entries(summary.kinds))) {
      kinds[kind] = (kinds[kind] ?? 0) + count
    }
    this.#options.logger?.warn({ event: 'errors', total, kinds }, `${total} more errors`)
  }

  #admits(fault: Fault): boolean {
    this.#timer ??= setTimeout(() => this.flush(), SUMMARY_INTERVAL_MS).unref()
    return isRejection(fault)
      ? this.#rejections.admits(kindOf(fault))
      : this.#faults.admits(kindOf(fault, folded))
  }
}

function write(logger: Logger, { time: _, ...report }: ErrorReport): void {
  const level = report.status >= 500 ? 'error' : 'warn'
  // The logger has a time of its own.
  logger[level]({ event: 'error', ...report }, report.message)
}

// By the names as they are shown: a thousand random tokens are one kind.
function kindOf({ exceptions, request }: Fault, spelt = (name: string): string => name): string {
  const { type } = factsOf(exceptions[0] ?? new Error())
  const { module, controller, action } = safeNames(request)
  return `${type} ${spelt(module)} ${spelt(controller)} ${spelt(action)}`
}

// However the name of a failing action is spelt, where spellings are folded (`zf1`), it is one kind.
function folded(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9_-]/g, '')
}

// A version that is not spoken is a 505, and the client's doing all the same.
function isRejection({ status, request }: Fault): boolean {
  return status < 500 || request?.rejection !== undefined
}

// A client that went away is not an error of the server.
function isLeaving({ exceptions, request }: Fault): boolean {
  return exceptions.length > 0 && exceptions.every((exception) => isClientGone(exception, request))
}
