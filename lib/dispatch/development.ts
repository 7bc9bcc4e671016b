import type { DetailsOf } from '../controllers/error-controller.ts'
import { statusOf } from '../http/exceptions.ts'
import { makeReport, type ReportOptions } from '../reporting/error-report.ts'
import { nearestName } from '../routing/nearest-name.ts'
import type { Dispatcher } from './dispatcher.ts'

/**
 * Creates the function that returns the details of an error page: the report, and what is
 * registered.
 *
 * @param dispatcher Called late: the error controller is created before the dispatcher.
 */
export function createDetails(options: ReportOptions, dispatcher: () => Dispatcher): DetailsOf {
  return (request, exception) => {
    const { registered } = dispatcher()
    const requested = `${request.controller}/${request.action}`
    const failure = { exceptions: [exception], request, status: statusOf(exception) }
    return {
      report: makeReport(request.id, failure, options),
      registered,
      nearest: registered.includes(requested) ? undefined : nearestName(requested, registered),
    }
  }
}
