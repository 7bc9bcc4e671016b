// Reads synchronously: node:fs/promises would load 12 modules of Node, 9 % of the instructions of a start on Node 24.
import { readdirSync, statSync } from 'node:fs'
import { join, parse, resolve } from 'node:path'
import { isObject } from '../http/check-options.ts'
import { kebabCase } from '../http/route.ts'
import { type Controller, type Controllers, functionsOf, isAction } from './controller.ts'
import { loadFile, reading } from './load-file.ts'

const MAX_SHOWN_NAMES = 5

/** The controllers of a folder, as options of a front controller. */
export interface ControllerDirectory {
  /** The controllers of the module `default`: the files in the folder itself. */
  readonly controllers: Controllers
  /** The controllers of each other module: the files in a subfolder, by its name. */
  readonly modules: ReadonlyMap<string, Controllers>
}

/**
 * Loads the controllers of a folder, once. `<name>.js` is a controller of the default module,
 * `<module>/<name>.js` one of that module. The actions of a file are its exported functions, or those
 * of the object that is its default export or `module.exports`.
 *
 * The extension may also be `.mjs` or `.cjs`, and `.ts` or `.mts` where Node.js runs TypeScript (22.18 or later). Other
 * files, tests (`<name>.test.js`, `<name>.spec.js`) and folders without a controller are ignored.
 *
 * @throws {Error} If the folder cannot be read or has a subfolder `default`, a file does not load, or two files have one
 * name.
 */
export async function loadControllers(directory: string): Promise<ControllerDirectory> {
  const root = resolve(directory)
  const { files, folders } = readFolder(root)
  const modules = new Map<string, Controllers>()
  for (const folder of folders) {
    const controllers = await loadAll(join(root, folder))
    if (controllers.size > 0) modules.set(folder, controllers)
  }
  if (modules.has('default'))
    throw new Error(`Move the controllers of "${join(root, 'default')}" to "${root}"`)
  return { controllers: await loadAll(root, files), modules }
}

const files = new WeakMap<Controller, string>()

/** Returns the file that a controller was loaded from; undefined for any other. @internal */
export function fileOf(controller: Controller): string | undefined {
  return files.get(controller)
}

/** Returns a warning for each controller that is valid, but probably wrong. */
export function warningsAbout({ controllers, modules }: ControllerDirectory): readonly string[] {
  const warnings: string[] = []
  for (const [module, each] of [['', controllers] as const, ...modules]) {
    for (const [name, controller] of each) {
      const path = module === '' ? name : `${module}/${name}`
      if (functionsOf(controller).size === 0) {
        warnings.push(
          `The controller "${path}" exports no function, and no object of a class: it has no action`,
        )
      }
      // As in Zend Framework 1.
      const [, short] = /^(.+)Controller$/.exec(name) ?? []
      if (short !== undefined) {
        const file = `${kebabCase(short)}.js`
        warnings.push(
          `The controller "${path}" has its whole name in its URLs: name the file "${file}", and its functions without "Action"`,
        )
      }
    }
  }
  const errors = controllers.get('error')
  if (errors !== undefined && !functionsOf(errors).has('error')) {
    warnings.push(
      'The controller "error" has no action "error": the response to every error is a bare 500',
    )
  }
  return warnings
}

/** Returns a warning with the names of the files in a folder that has no controller; else undefined. @internal */
export function warningAboutFolder(
  directory: string,
  { controllers, modules }: ControllerDirectory,
): string | undefined {
  if (controllers.size + modules.size > 0) return undefined
  const names = readdirSync(resolve(directory)).sort()
  const shown = names.slice(0, MAX_SHOWN_NAMES).map((name) => JSON.stringify(name))
  const rest = names.length > MAX_SHOWN_NAMES ? ` and ${names.length - MAX_SHOWN_NAMES} more` : ''
  const found = names.length === 0 ? 'it is empty' : `it contains ${shown.join(', ')}${rest}`
  return `The folder of controllers "${directory}" has no controller (<name>.js, .mjs, .cjs, .ts or .mts): ${found}`
}

function readFolder(folder: string): Record<'files' | 'folders', string[]> {
  const names = reading(`The folder of controllers "${folder}"`, () => readdirSync(folder))
  const visible = names.filter((name) => !name.startsWith('.') && name !== 'node_modules').sort()
  // Uses stat(): for a link, readdir() returns the type of the link, not of its target.
  const stats = visible.map((name) => {
    const path = join(folder, name)
    return reading(`"${path}" among the controllers`, () => statSync(path))
  })
  return {
    files: visible.filter(
      (name, i) => stats[i]?.isFile() && /(?<!\.(test|spec))\.([cm]?js|(?<!\.d\.)m?ts)$/.test(name),
    ),
    folders: visible.filter((_, i) => stats[i]?.isDirectory()),
  }
}

async function loadAll(folder: string, names = readFolder(folder).files): Promise<Controllers> {
  const controllers = new Map<string, Controller>()
  for (const file of names) {
    const { name } = parse(file)
    if (controllers.has(name))
      throw new Error(`The controller "${name}" has two files in "${folder}"`)
    const path = join(folder, file)
    const { controller } = await loadFile('The controller', path, readController)
    files.set(controller, path)
    controllers.set(name, controller)
  }
  return controllers
}

// Returns the exports of a file, or the object that is its default export if nothing else exports an action.
// A transpiled module (`__esModule`) has a default export too.
function readController(exports: object): { readonly controller: Controller } {
  const value: unknown = Reflect.get(exports, 'default')
  const hasActions = Object.entries(exports).some(
    ([name, each]) => name !== 'default' && isAction(each),
  )
  const controller = isObject(value) && !hasActions ? value : exports
  // Calls the getters here, so that their errors name the file.
  functionsOf(controller)
  // In an object, because a controller may have an action `then`.
  return { controller }
}
