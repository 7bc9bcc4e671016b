import type { ErrorReport } from '../reporting/error-report.ts'
import type { ExceptionReport } from '../reporting/exception-report.ts'

/** The details of an error, for the response in development. They are scrubbed as every report is. */
export interface DevelopmentDetails {
  readonly report: ErrorReport
  /** The exception of the report, with the frames of the application first. */
  readonly exception: LocatedException
  /** The names and values of the parameters; undefined if only their shapes are shown. */
  readonly values: readonly (readonly [name: string, value: string])[] | undefined
  /** The first actions that a client can request. */
  readonly routes: readonly LinkedAction[]
  /** The number of the other ones. */
  readonly omittedRoutes: number
  /** The action with the most similar name, if there is none of the requested name. */
  readonly nearest: LinkedAction | undefined
}

/** An action that a client can request. */
export interface LinkedAction {
  /** Such as `news/list`, `admin/report/daily`. */
  readonly name: string
  /** The shortest URL; null if no URL is known. */
  readonly url: string | null
  /** The allowed methods; null for all. */
  readonly methods: readonly string[] | null
}

/** An exception with its frames: those of the application, and the others. */
export interface LocatedException extends Pick<ExceptionReport, 'name' | 'message' | 'code'> {
  readonly frames: readonly ApplicationFrame[]
  /** The frames of Node and of libraries. Those of Portico are left out, unless the stack has no others but those of Node. */
  readonly otherFrames: readonly string[]
  readonly previous: LocatedException | null
  readonly errors: readonly LocatedException[]
}

/** The location of a frame in a file of the application. */
export interface FrameLocation {
  /** The name of the function, such as `view`, `async find`, `(anonymous)`. */
  readonly name: string
  /** The path of the file, relative to the folder of the application. */
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A frame of a stack that is in a file of the application. */
export interface ApplicationFrame extends FrameLocation {
  /** The lines around the frame; empty if the file cannot be read. */
  readonly excerpt: readonly SourceLine[]
}

/** A line of a file. A long line is cut around the column of the frame. */
export interface SourceLine {
  readonly line: number
  readonly text: string
}

/** Returns the details as the member `development` of problem details. */
export function developmentFacts(details: DevelopmentDetails): object {
  const { report, exception, values, routes, omittedRoutes, nearest } = details
  const { type, module, controller, action, method, params, looksLike, hint } = report
  return {
    type,
    ...exception,
    request: {
      method,
      module,
      controller,
      action,
      params,
      ...(values && { values: Object.fromEntries(values) }),
    },
    nearest: nearest ?? null,
    ...(looksLike && { looksLike, hint }),
    routes,
    omittedRoutes,
  }
}

/** Returns the details as lines of plain text. */
export function developmentLines({ exception, nearest }: DevelopmentDetails): readonly string[] {
  const found = nearest === undefined ? [] : [`Did you mean ${nearest.url ?? nearest.name}?`]
  return [...found, ...exceptionLines(exception)]
}

/** Returns the location of a frame, such as `controllers/news.js:12:9`. */
export function positionOf({ file, line, column }: FrameLocation): string {
  return `${file}:${line}:${column}`
}

function exceptionLines(exception: LocatedException, title = ''): readonly string[] {
  const { name, message, frames, otherFrames, previous, errors } = exception
  const own = frames.map((frame) => `    at ${frame.name} (${positionOf(frame)})`)
  return [
    `${title}${name}: ${message}`,
    ...own,
    ...otherFrames.map((frame) => `    at ${frame}`),
    ...(previous ? exceptionLines(previous, 'Caused by ') : []),
    ...errors.flatMap((error) => exceptionLines(error, 'One of ')),
  ]
}
