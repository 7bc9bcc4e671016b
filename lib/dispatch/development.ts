import type { Develop } from '../controllers/error-controller.ts'
import { factsOf } from '../http/exceptions.ts'
import { makeReport, type ReportOptions } from '../reporting/error-report.ts'
import { nearestName } from '../routing/nearest-name.ts'
import type { Dispatcher } from './dispatcher.ts'

/**
 * Tells the page of an error what it shows in development: the report, and what is registered.
 *
 * @param dispatcher Asked late: the error controller is made before there is one.
 */
export function developer(options: ReportOptions, dispatcher: () => Dispatcher): Develop {
  return (request, exception) => {
    const { registered } = dispatcher()
    const asked = `${request.controller}/${request.action}`
    const fault = { exceptions: [exception], request, status: factsOf(exception).status }
    return {
      report: makeReport(request.id, fault, options),
      registered,
      nearest: registered.includes(asked) ? undefined : nearestName(asked, registered),
    }
  }
}
