import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type {
  ApplicationFrame,
  DevelopmentDetails,
  LinkedAction,
  LocatedException,
} from '../controllers/development-details.ts'
import type { DetailsOf } from '../controllers/error-controller.ts'
import { fileOf } from '../controllers/load-controllers.ts'
import { statusOf } from '../http/exceptions.ts'
import { isLocal } from '../http/loopback.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { clientParamsOf } from '../http/request-readers.ts'
import { makeReport } from '../reporting/error-report.ts'
import type { ExceptionReport } from '../reporting/exception-report.ts'
import { printable } from '../scrubbing/printable.ts'
import { scrubAll } from '../scrubbing/scrub.ts'
import { type SiteParts, urlsOf } from './action-urls.ts'
import { nearestOf } from './nearest-action.ts'
import type { RegisteredAction } from './registered-controller.ts'
import { type LocatedFrame, locateFrame, readExcerpt } from './source-excerpt.ts'

/** Options of the details. */
export interface DevelopmentOptions {
  /** The names of the parameters whose values are shown. */
  readonly logParams: ReadonlySet<string>
  /** Whether a client on this machine sees the values of its parameters. */
  readonly showValues: boolean
  /** Called late: the error controller is created before the dispatcher. */
  readonly getSite: () => SiteParts
}

// Reading and scrubbing excerpts takes time.
const MAX_EXCERPTS = 6
const MAX_VALUES = 40
// A page with all routes of a large application would take half a second.
const MAX_ROUTES = 200
const MAX_VALUE_LENGTH = 400

/** Creates the function that returns the details of an error. */
export function createDetails(options: DevelopmentOptions): DetailsOf {
  const { logParams, showValues, getSite } = options
  return (request, exception) => {
    const failure = { exceptions: [exception], request, status: statusOf(exception) }
    const report = makeReport(request.id, failure, { logParams, hasStack: true })
    const { route, message } = stateOf(request)
    // A request that is not routed yet may be the return of a sign-in.
    const isShown = showValues && route !== undefined && !message.ending?.hidesParams
    const values = isShown && isLocal(request) ? valuesIn(request) : undefined
    const site = getSite()
    const actions = site.dispatcher.reachable
    const routes = actions.slice(0, MAX_ROUTES).map((action) => linkedAction(site, action))
    const nearest = nearestOf(site, request, exception)
    const nearestAction = nearest ? actionOf(nearest, actions) : undefined
    return {
      report,
      exception: locateAll(report, site, request, values !== undefined),
      values,
      routes,
      omittedRoutes: actions.length - routes.length,
      nearest: nearestAction && linkedAction(site, nearestAction),
    } satisfies DevelopmentDetails
  }
}

function linkedAction(site: SiteParts, action: RegisteredAction): LinkedAction {
  const url = urlFor(site, action)
  return { name: action.name, url, methods: action.methods ?? null }
}

// The name may be that of a controller alone.
function actionOf(
  name: string,
  actions: readonly RegisteredAction[],
): RegisteredAction | undefined {
  const names = [name, `${name}/index`]
  return (
    actions.find((action) => names.includes(action.name)) ??
    actions.find(({ controller }) => controller === name)
  )
}

function urlFor(site: SiteParts, action: RegisteredAction): string | null {
  try {
    return urlsOf(site, action)[0]?.replace(/\/\.\.\.$/, '') ?? null
  } catch {
    // A custom router threw, because it needs more than the path.
    return null
  }
}

function locateAll(
  report: ExceptionReport,
  site: SiteParts,
  request: HttpRequest,
  hasValues: boolean,
): LocatedException {
  const folders = foldersOf(site)
  let left = MAX_EXCERPTS
  const lines: { text: string }[] = []
  const withExcerpt = (frame: LocatedFrame): ApplicationFrame => {
    const { path: _, ...location } = frame
    const excerpt = left-- > 0 ? readExcerpt(frame, folders) : []
    lines.push(...excerpt)
    return { ...location, excerpt }
  }
  const locate = (exception: ExceptionReport): LocatedException => {
    const { name, message, code, stack = [], previous, errors = [] } = exception
    const located = stack.map((frame) => locateFrame(frame, folders) ?? frame)
    return {
      name,
      message,
      code,
      frames: located.filter((frame) => typeof frame !== 'string').map(withExcerpt),
      otherFrames: located.filter((frame) => typeof frame === 'string'),
      previous: previous && locate(previous),
      errors: errors.map(locate),
    }
  }
  const located = locate(report)
  const texts = lines.map(({ text }) => text)
  // The code may contain a value of the request, such as a password to compare with. One search for all excerpts, because each
  // one folds all values.
  const safe = hasValues ? texts : scrubAll(texts, request)
  for (const [i, line] of lines.entries()) line.text = printable(safe[i] ?? '...')
  return located
}

// The current folder, and the folders that contain a folder of controllers.
function foldersOf({ dispatcher }: SiteParts): readonly string[] {
  const files = dispatcher.actions.flatMap(({ owner }) => fileOf(owner) ?? [])
  const folders = [resolve(), ...files.map((file) => dirname(dirname(file)))]
  return [...new Set(folders.map(realPath))]
}

// Returns the real path of a folder, because frames have the real paths of their files.
function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    // The folder was removed.
    return folder
  }
}

function valuesIn(request: HttpRequest): readonly (readonly [name: string, value: string])[] {
  const show = (text: string): string => printable(text.slice(0, MAX_VALUE_LENGTH).toWellFormed())
  const values = [...clientParamsOf(request)].slice(0, MAX_VALUES)
  return values.map(([name, value]) => [show(name), show(value)])
}
