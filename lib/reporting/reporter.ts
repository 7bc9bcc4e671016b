import { isClientGone, read, typeOf } from '../http/exceptions.ts'
import { channels } from './diagnostics.ts'
import { type ErrorReport, type Failure, makeReport, type ReportOptions } from './error-report.ts'
import type { Logger } from './logger.ts'
import { NoiseBudget } from './noise-budget.ts'
import { safeNames } from './request-names.ts'
import { safeName } from './shape.ts'

/** The options of a {@link Reporter}. */
export interface ReporterOptions extends ReportOptions {
  readonly logger: Logger | undefined
  /** Receives the report of every error, including those that the log only counts. */
  readonly onReport: ((report: ErrorReport) => unknown) | undefined
}

const SUMMARY_INTERVAL_MS = 60_000

/**
 * Reports errors: all to `onReport` and to the diagnostics channel, and within the noise budget to
 * the log. Makes a report only if one of them reads it.
 */
export class Reporter {
  readonly #options: ReporterOptions
  // Two budgets, because the thousand kinds of 404 of a scanner must not hide server errors.
  readonly #serverErrors = new NoiseBudget()
  readonly #rejections = new NoiseBudget()
  #timer: NodeJS.Timeout | undefined

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  /** Reports an error. Never throws: an observer that fails must not cause another error. */
  report(failure: Failure): void {
    if (isClientGoneOnly(failure)) return
    try {
      this.#publish(failure)
    } catch (error) {
      this.#logObserverError(error)
    }
  }

  /** Logs the counts of errors at once, as at the end of a process. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const summaries = [this.#serverErrors.takeSummary(), this.#rejections.takeSummary()]
    const total = summaries.reduce((sum, summary) => sum + summary.total, 0)
    if (total === 0) return
    const kinds: Record<string, number> = {}
    for (const [kind, count] of summaries.flatMap((summary) => Object.entries(summary.kinds))) {
      kinds[kind] = (kinds[kind] ?? 0) + count
    }
    this.#options.logger?.warn({ event: 'errors', total, kinds }, `${total} more errors`)
  }

  #publish(failure: Failure): void {
    const { logger, onReport } = this.#options
    const isLogged = logger !== undefined && this.#admits(failure)
    if (!isLogged && onReport === undefined && !channels.error.hasSubscribers) return

    const id = failure.request?.id ?? crypto.randomUUID()
    const report = makeReport(id, failure, this.#options)
    if (isLogged) log(logger, report)
    if (channels.error.hasSubscribers) channels.error.publish(report)
    Promise.resolve(onReport?.(report)).catch((error) => this.#logObserverError(error))
  }

  #admits(failure: Failure): boolean {
    this.#timer ??= setTimeout(() => this.flush(), SUMMARY_INTERVAL_MS).unref()
    return isRejection(failure)
      ? this.#rejections.admits(kindOf(failure))
      : this.#serverErrors.admits(kindOf(failure, fold))
  }

  #logObserverError(error: unknown): void {
    try {
      const name = safeName(String(read(error, 'name')))
      this.#options.logger?.error({ event: 'observer', name }, 'An observer of errors failed')
    } catch {
      // The logger itself failed: there is no other place to report to.
    }
  }
}

// Leaves out the time, because a logger adds its own.
function log(logger: Logger, { time: _, ...report }: ErrorReport): void {
  const level = report.status >= 500 ? 'error' : 'warn'
  logger[level]({ event: 'error', ...report }, report.message)
}

// Uses the safe names without the lengths of shapes, such as token(22): a thousand random tokens
// are one kind.
function kindOf({ exceptions, request }: Failure, spell = (name: string): string => name): string {
  const { module, controller, action } = safeNames(request)
  const type = typeOf(exceptions[0] ?? new Error())
  const kind = (name: string): string => spell(withoutLength(name))
  return `${type} ${kind(module)} ${kind(controller)} ${kind(action)}`
}

function withoutLength(name: string): string {
  return name.endsWith(')') ? name.slice(0, name.lastIndexOf('(')) : name
}

// Under `names: 'zf1'` one failing action has many spellings; they are one kind.
function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9_-]/g, '')
}

// An unsupported version of HTTP has the status 505, although it is an error of the client.
function isRejection({ status, request }: Failure): boolean {
  return status < 500 || request?.rejection !== undefined
}

// A client that has gone away is not an error of the server.
function isClientGoneOnly({ exceptions, request }: Failure): boolean {
  return exceptions.length > 0 && exceptions.every((exception) => isClientGone(exception, request))
}
