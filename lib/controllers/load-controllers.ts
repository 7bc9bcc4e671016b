import { readdir, stat } from 'node:fs/promises'
import { join, parse, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toError } from '../http/exceptions.ts'
import { type Controller, type Controllers, isAction } from './controller.ts'

const OWN_FOLDER = new URL('..', import.meta.url).href

// A controller may fetch what it needs before the first request, but not for ever.
const LOAD_TIMEOUT_MS = 10_000

/** The controllers of a folder, as a front controller takes them. */
export interface ControllerDirectory {
  /** Of the files in the folder itself: the module `default`. */
  readonly controllers: Controllers
  /** Of each folder in it, by the folder's name. */
  readonly modules: ReadonlyMap<string, Controllers>
}

/**
 * Loads a folder of controllers, once: `<name>.js` is a controller of the default module,
 * `<module>/<name>.js` one of that module; a file's exported functions are its actions. `.mjs` counts
 * as `.js` does; other files are left alone, tests (`<name>.test.js`) too, and folders without such a file.
 *
 * @throws {Error} With one line that names the folder or the file: it does not exist, it does not load,
 * another file has its name.
 */
export async function loadControllers(directory: string): Promise<ControllerDirectory> {
  const root = resolve(directory)
  const { files, folders } = await list(root)
  const modules = new Map<string, Controllers>()
  for (const folder of folders) {
    const controllers = await loadAll(join(root, folder))
    if (controllers.size > 0) modules.set(folder, controllers)
  }
  return { controllers: await loadAll(root, files), modules }
}

/** What is allowed of controllers, and seldom meant: a line for each. */
export function warningsAbout({ controllers, modules }: ControllerDirectory): readonly string[] {
  const errors = controllers.get('error')
  const all = [['', controllers] as const, ...modules].flatMap(([module, each]) =>
    [...each].map(
      ([name, controller]) => [module ? `${module}/${name}` : name, controller] as const,
    ),
  )
  const empty = all.filter(([, controller]) => !Object.values(controller).some(isAction))
  const doubts = empty.map(
    ([name]) => `The controller "${name}" exports no function: it has no action`,
  )
  const isUnanswered = errors !== undefined && !isAction(Reflect.get(errors, 'error'))
  return isUnanswered
    ? [
        ...doubts,
        'The controller "error" has no action "error": every error is answered with a bare 500',
      ]
    : doubts
}

interface Listing {
  readonly files: readonly string[]
  readonly folders: readonly string[]
}

async function list(folder: string): Promise<Listing> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The folder of controllers "${folder}" can't be read: ${error.code}`)
  })
  const visible = names.filter((name) => !name.startsWith('.') && name !== 'node_modules').sort()
  // Not by readdir's own types: those of a link are the link's.
  const stats = await Promise.all(visible.map((name) => stat(join(folder, name))))
  return {
    files: visible.filter(
      (name, i) => stats[i]?.isFile() && /(?<!\.(test|spec))\.m?js$/.test(name),
    ),
    folders: visible.filter((_, i) => stats[i]?.isDirectory()),
  }
}

async function loadAll(folder: string, files?: readonly string[]): Promise<Controllers> {
  const controllers = new Map<string, Controller>()
  for (const file of files ?? (await list(folder)).files) {
    const { name } = parse(file)
    if (controllers.has(name))
      throw new Error(`Two files for the controller "${name}" in "${folder}"`)
    controllers.set(name, (await load(join(folder, file))).controller)
  }
  return controllers
}

async function load(file: string): Promise<{ readonly controller: Controller }> {
  // In a module of its own, all the way: a promise would take a controller with an action `then` for another.
  const source = `export * as controller from ${JSON.stringify(pathToFileURL(file).href)}`
  const loading = import(`data:text/javascript,${encodeURIComponent(source)}`)
  try {
    return await within(loading, LOAD_TIMEOUT_MS)
  } catch (thrown) {
    const error = toError(thrown)
    throw new Error(`The controller "${file}" does not load: ${reasonOf(error)}`, { cause: error })
  }
}

// A file that awaits for ever at its top level would end the process without a word.
function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = new Error(`not done after ${timeoutMs} milliseconds`)
    const timer = setTimeout(() => reject(late), timeoutMs)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

// What went wrong, and the first place that its stack names.
function reasonOf({ message, stack = '' }: Error): string {
  const places = stack.match(/file:[^\s)]*:\d+(?::\d+)?/g) ?? []
  const place = places.find((each) => !each.startsWith(OWN_FOLDER))
  return [message.split('\n')[0] || 'it throws', place].filter(Boolean).join(', at ')
}
