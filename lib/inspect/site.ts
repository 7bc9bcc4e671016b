import { readFileSync } from 'node:fs'
import { type Controller, originalOf } from '../controllers/controller.ts'
import { errorHooksOf } from '../controllers/error-hooks.ts'
import { fileOf } from '../controllers/load-controllers.ts'
import type { SiteParts } from '../dispatch/action-urls.ts'
import { type FrontController, partsOf } from '../dispatch/front-controller.ts'
import { controllersOf } from '../dispatch/options.ts'
import type { RegisteredAction } from '../dispatch/registered-controller.ts'
import { kebabCase } from '../http/route.ts'
import { type FunctionLocation, locateFunctions } from './function-location.ts'
import { lineOfExport } from './source-line.ts'

/** The parts of a front controller that find the action of a request. No action and no plugin runs. */
export interface Site extends SiteParts {
  isBuiltIn(controller: Controller): boolean
  /** The locations of the actions that are defined in a file, without those that a decorator of an application wrapped. */
  readonly locations: ReadonlyMap<unknown, FunctionLocation>
}

/** Returns the parts of a front controller that find the action of a request. */
export function siteOf(front: FrontController): Site {
  const { options, ...parts } = partsOf(front)
  const custom = new Set(controllersOf(options))
  const isBuiltIn = (controller: Controller): boolean => !custom.has(controller)
  const locations = locateFunctions(parts.dispatcher.actions.map(({ run }) => originalOf(run)))
  return { ...parts, isBuiltIn, locations }
}

/** The name of an action, and the location of its source. */
export interface ActionLocation {
  /** Such as `news/list`, `admin/report/daily`. */
  readonly name: string
  readonly builtIn: boolean
  /** The path of the file that defines the action, else of its controller; null if it is built in or unknown. */
  readonly file: string | null
  /** The line of the file that defines the action, from 1; null if it was not found. */
  readonly line: number | null
}

/** Returns the location of an action. */
export function locateAction(site: Site, action: RegisteredAction): ActionLocation {
  const { name } = action
  if (site.isBuiltIn(action.owner) || errorHooksOf(action.run)) {
    return { name, builtIn: true, file: null, line: null }
  }
  const location = site.locations.get(originalOf(action.run))
  if (location !== undefined) return { name, builtIn: false, ...location }
  const file = fileOf(action.owner) ?? null
  return { name, builtIn: false, file, line: file === null ? null : lineOf(action, file) }
}

function lineOf({ owner, action }: RegisteredAction, file: string): number | null {
  const name = Object.keys(owner).find((key) => kebabCase(key) === action)
  try {
    return lineOfExport(readFileSync(file, 'utf8'), name ?? action)
  } catch {
    // The file was removed after it was loaded.
    return null
  }
}

/** Returns the action that handles every error; undefined if a custom error controller has none. */
export function errorActionOf({ dispatcher }: Site): RegisteredAction | undefined {
  return dispatcher.actions.find(({ action, isHidden }) => isHidden && action === 'error')
}
