import type {
  ApplicationFrame,
  DevelopmentDetails,
  LocatedException,
} from '../../lib/controllers/development-details.ts'
import type { ErrorPage } from '../../lib/controllers/error-page.ts'
import type { ErrorReport } from '../../lib/reporting/error-report.ts'

/** The public part of a page for a 500. */
export const page: ErrorPage = {
  status: 500,
  title: 'Internal Server Error',
  detail: 'The server failed to answer this request.',
  id: 'ID',
}

/** Creates an exception without frames: `Error: boom`. */
export function exceptionWith(parts: Partial<LocatedException>): LocatedException {
  const none = { code: 0, frames: [], otherFrames: [], previous: null, errors: [] }
  return { name: 'Error', message: 'boom', ...none, ...parts }
}

/** Creates the frame `view (news.js:1:3)`. */
export function frameWith(parts: Partial<ApplicationFrame>): ApplicationFrame {
  return { name: 'view', file: 'news.js', line: 1, column: 3, excerpt: [], ...parts }
}

/** Creates the details of a request `GET default/nwes/list` that failed. */
export function detailsWith(
  parts: Partial<Omit<DevelopmentDetails, 'report'>> & { report?: Partial<ErrorReport> },
): DevelopmentDetails {
  const { report, exception = exceptionWith({}), ...others } = parts
  const { name, message, code } = exception
  return {
    report: {
      id: 'ID',
      fingerprint: 'EXCEPTION_OTHER Error nwes/list',
      time: '2024-01-01T00:00:00.000Z',
      type: 'EXCEPTION_OTHER',
      ...{ name, message, code, previous: null },
      module: 'default',
      controller: 'nwes',
      action: 'list',
      route: null,
      method: 'GET',
      params: {},
      status: 500,
      durationMs: 1,
      ...report,
    },
    exception,
    values: undefined,
    routes: [],
    omittedRoutes: 0,
    nearest: undefined,
    ...others,
  }
}
