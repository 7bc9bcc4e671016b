import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadFile, reading } from '../controllers/load-file.ts'
import { FileError } from '../controllers/load-module.ts'
import { FrontController } from '../dispatch/front-controller.ts'
import type { FrontControllerOptions } from '../dispatch/options.ts'
import { withTimeout } from '../http/async.ts'
import { Checks, isRecord } from '../http/check-options.ts'
import { checkedRoutes } from '../routing/route-table.ts'
import { type BeforeMiddleware, checkedBefore } from '../server/before.ts'
import type { Service } from '../server/serve.ts'

/** The exports of an application file. */
export interface AppFile {
  /** The default export, or its return value if it is a function. */
  readonly options: FrontControllerOptions
  /** Middlewares in front of the front controller. */
  readonly before?: readonly BeforeMiddleware[] | undefined
  /** Receives the service when it listens. */
  readonly started?: ((service: Service) => unknown) | undefined
  /** Closes the resources of the application. */
  readonly close?: (() => unknown) | undefined
  /** Reports whether the application is ready for requests. */
  readonly ready?: (() => unknown) | undefined
}

/** The exports for a program without an application file. */
export const NO_APP: AppFile = { options: {} }

const READY_TIMEOUT_MS = 2_000

/**
 * Loads an application file: an ES module whose default export is the options of a front controller, or a function that
 * returns them, or a promise of them.
 *
 * @throws {Error} If the file does not load, or an export or an option is invalid. The message has
 * a line that names the file for each problem.
 */
export async function loadAppFile(path: string): Promise<AppFile> {
  const file = resolve(path)
  const kind = 'The application file'
  if (reading(`${kind} "${file}"`, () => statSync(file)).isDirectory())
    throw new Error(`${kind} "${file}" is a folder: expected a file`)
  return loadFile(kind, file, async (exports) => {
    const options = await optionsOf(Reflect.get(exports, 'default'))
    try {
      checkAppOptions(options)
      return {
        options,
        before: checkedBefore(Reflect.get(exports, 'before')),
        started: functionOf(exports, 'started'),
        close: functionOf(exports, 'close'),
        ready: functionOf(exports, 'ready'),
      }
    } catch (error) {
      throw new FileError((error as Error).message)
    }
  })
}

async function optionsOf(value: unknown): Promise<FrontControllerOptions> {
  if (value === undefined) {
    const expected = 'the options of a front controller, or a function that returns them'
    throw new FileError(`it has no default export: expected ${expected}`)
  }
  const isFunction = typeof value === 'function'
  const options: unknown = isFunction ? await value() : value
  if (isRecord(options)) return options
  const what = isFunction ? 'its default export returned' : 'its default export is'
  throw new FileError(`${what} ${wordFor(options)}: expected an object of options`)
}

function wordFor(value: unknown): string {
  if (typeof value !== 'object') return typeof value
  return value === null ? 'null' : `an instance of ${value.constructor?.name}`
}

// Assumes development for a file with `showValues`, which needs it: a flag or a variable may turn development on.
function checkAppOptions(options: FrontControllerOptions): void {
  const { showValues = false, development = showValues, routes } = options
  const checks = new Checks()
  // The routes alone: they may lead to a module of the folder of controllers.
  checks.run(() => new FrontController({ ...options, development, routes: undefined }))
  if (routes !== undefined) checks.run(() => checkedRoutes(routes))
  checks.end()
}

function functionOf(exports: object, name: string): (() => unknown) | undefined {
  const value: unknown = Reflect.get(exports, name)
  if (value === undefined || typeof value === 'function') return value as () => unknown
  throw new TypeError(`Expected the export "${name}" to be a function`)
}

/** Calls `started`. Rejects if it throws. */
export async function startApp({ started }: AppFile, service: Service): Promise<void> {
  await started?.(service)
}

/**
 * Returns a function that calls `ready`. It returns false if `ready` returns a value that is falsy, fails, or takes longer
 * than 2 seconds.
 *
 * @param report Receives the first of several errors in a row.
 */
export function createReadyCheck(
  { ready }: AppFile,
  report: (error: unknown) => void,
): () => Promise<boolean> {
  let hasFailed = false
  return async () => {
    if (ready === undefined) return true
    try {
      const isReady = Boolean(await withTimeout(ready(), READY_TIMEOUT_MS, '`ready` is not done'))
      hasFailed = false
      return isReady
    } catch (error) {
      if (!hasFailed) report(error)
      hasFailed = true
      return false
    }
  }
}

/**
 * Calls `close`.
 *
 * @throws Any error of `close`, or an error if it takes longer than `timeoutMs` milliseconds.
 */
export async function closeApp({ close }: AppFile, timeoutMs: number): Promise<void> {
  if (close !== undefined) {
    await withTimeout(close(), Math.ceil(timeoutMs), '`close` is not done')
  }
}
