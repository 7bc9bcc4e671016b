import { lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { EXIT_FAILURE, fail, print } from '../process/output.ts'
import { ConfigError } from '../process/settings.ts'
import { version } from '../process/version.ts'
import { jsonLine, printable } from '../scrubbing/printable.ts'
import {
  addMissingKeys,
  formatPackageJson,
  type NeededParts,
  parsePackageJson,
} from './package-json.ts'

const NODE_FOR_TYPESCRIPT = '22.18'
// The templates are JavaScript. They become TypeScript when each type in a comment is moved behind its variable.
const TEMPLATES = [
  'app',
  'controllers/index',
  'controllers/news',
  'controllers/error',
  'test/app.test',
]
const JSDOC_TYPE = /\/\*\* @type \{(.*)\} \*\/\n(const \w+)/g

/**
 * Runs `portico init`: writes a small application into a folder, and prints a line for each file. It overwrites no file, and
 * only adds keys to an existing `package.json`. It writes nothing beside an application in the other language.
 *
 * @param args The arguments after `init`: the folder (default: the current one), and `--ts` for TypeScript.
 * @param templates The URL of the folder of the templates, with a slash at its end.
 * @throws {ConfigError} If the arguments are invalid.
 */
export async function init(args: readonly string[], templates: URL): Promise<void> {
  const { folder, typescript } = parseArguments(args)
  try {
    await mkdir(folder, { recursive: true })
    for (const name of ['controllers', 'test']) await checkPlace(folder, name)
    await checkLanguage(folder, typescript)
    const { extension, isInstalled } = await writePackage(folder, typescript)
    const read = (name: string): Promise<string> => readFile(new URL(name, templates), 'utf8')
    // The templates refer to each other by names that end in `.js`.
    const adapt = (text: string): string => text.replace(/\.js(?=['"])/g, extension)

    for (const name of TEMPLATES) {
      const text = adapt(await read(`${name}.js`))
      const typed = typescript ? text.replace(JSDOC_TYPE, '$2: $1') : text
      await write(folder, `${name}${extension}`, typed)
    }
    if (typescript) await write(folder, 'tsconfig.json', await read('tsconfig.json'))
    await write(folder, 'Dockerfile', adapt(await read('Dockerfile')))
    await write(folder, '.dockerignore', '.git\nnode_modules\n.env\n')
    await write(folder, '.gitignore', 'node_modules\n.env\n')
    printNext(folder, isInstalled, typescript)
  } catch (error) {
    // The error of a full disk has no path.
    const { code, path = folder } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is not a folder' : code
    await fail(EXIT_FAILURE, [`Can't write to ${jsonLine(path)}: ${reason}`])
  }
}

function parseArguments(args: readonly string[]): { folder: string; typescript: boolean } {
  const [folder = '.', ...others] = args.filter((arg) => arg !== '--ts')
  const wrong = [folder, ...others].find((arg, i) => i > 0 || arg === '' || arg.startsWith('-'))
  if (wrong !== undefined) {
    throw new ConfigError([`Unexpected argument ${jsonLine(wrong)}: expected init [DIR] [--ts]`])
  }
  return { folder, typescript: args.includes('--ts') }
}

// Rejects a link that leads out of the folder.
async function checkPlace(folder: string, name: string): Promise<void> {
  const path = join(folder, name)
  const real = await realpath(path).catch(() => '')
  if (real !== '' && !real.startsWith((await realpath(folder)) + sep))
    throw problem(path, 'it leads out of the folder')
}

// Returns an error that is printed like one of the system.
function problem(path: string, code: string): Error {
  return Object.assign(new Error(code), { path, code })
}

// Ends the process if the folder has an application in the other language: Node would load files of both.
async function checkLanguage(folder: string, typescript: boolean): Promise<void> {
  const controllers = await readdir(join(folder, 'controllers'), { recursive: true }).catch(
    () => [],
  )
  const names = [...(await readdir(folder)), ...controllers.map((name) => `controllers/${name}`)]
  const pattern = new RegExp(`^(?:app|controllers/.*(?<!\\.d))\\.[cm]?${typescript ? 'j' : 't'}s$`)
  const file = names.find((name) => pattern.test(name))
  if (file === undefined) return
  const option = typescript ? 'without' : 'with'
  const remedy = `run init ${option} --ts, or in another folder`
  await fail(EXIT_FAILURE, [`There is an application with ${jsonLine(file)}: ${remedy}`])
}

// Writes or completes package.json, and returns the extension of the files that fits its `type`.
async function writePackage(
  folder: string,
  typescript: boolean,
): Promise<{ extension: string; isInstalled: boolean }> {
  const file = join(folder, 'package.json')
  const former = await readIfPresent(file)
  const content = parsePackageJson(former ?? '{ "private": true }\n')
  if (content === undefined) {
    return fail(EXIT_FAILURE, [`Can't complete ${jsonLine(file)}: it is not a valid package.json`])
  }
  const isTypeless = former !== undefined && (await hasScripts(folder))
  const { type = isTypeless ? undefined : 'module', devDependencies } = content
  const extension = `${type === 'module' ? '.' : '.m'}${typescript ? 'ts' : 'js'}`
  const start = `portico --app app${extension}`
  const needed: NeededParts = {
    type,
    scripts: { start, dev: `${start} --watch`, test: 'node --test' },
    dependencies: devDependencies?.portico === undefined ? { portico: `^${version()}` } : {},
  }
  const added = addMissingKeys(content, needed)
  if (added.length > 0) await replace(file, formatPackageJson(content, former ?? '\n'))
  if (former === undefined) print('wrote package.json\n')
  else if (added.length > 0) print(`changed package.json: added ${added.join(', ')}\n`)
  else print('kept package.json\n')
  if (type !== 'module') {
    print(`"type" is ${type ? jsonLine(type) : 'absent'}, so the files end in ${extension}\n`)
  }
  for (const [name, script] of Object.entries(needed.scripts)) {
    const current = content.scripts?.[name]
    if (current !== script) {
      print(`kept the script ${jsonLine(name)}, which is not ${jsonLine(script)}\n`)
    }
  }
  return { extension, isInstalled: !added.includes('dependencies.portico') }
}

// Without a `type`, Node chooses by the syntax of each file. A `type` would break those of the other kind.
async function hasScripts(folder: string): Promise<boolean> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.isFile() && /\.[jt]s$/.test(entry.name)) return true
    const isOwn = entry.isDirectory() && !/^(?:\.|node_modules$)/.test(entry.name)
    if (isOwn && (await hasScripts(join(folder, entry.name)))) return true
  }
  return false
}

// Checks the file first: a link must not be followed, and to read a FIFO would wait for its writer.
async function readIfPresent(file: string): Promise<string | undefined> {
  const stats = await lstat(file).catch(() => undefined)
  if (stats?.isFile() === false) throw problem(file, 'it is not a file')
  return stats && readFile(file, 'utf8')
}

// A write that fails leaves the former file whole. Its permissions stay.
async function replace(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}`
  try {
    const mode = (await lstat(file).catch(() => undefined))?.mode
    await writeFile(temporary, text, { flag: 'wx', mode })
    await rename(temporary, file)
  } finally {
    await rm(temporary, { force: true })
  }
}

async function write(folder: string, name: string, text: string): Promise<void> {
  const file = join(folder, name)
  await mkdir(dirname(file), { recursive: true })
  try {
    await writeFile(file, text, { flag: 'wx' })
    print(`wrote ${name}\n`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    print(`kept ${name}: it exists\n`)
  }
}

function printNext(folder: string, isInstalled: boolean, typescript: boolean): void {
  const { features, versions } = process
  const isTooOld = typescript && !(features as { readonly typescript?: unknown }).typescript
  if (isTooOld) {
    print(
      `The files need Node ${NODE_FOR_TYPESCRIPT} or newer, and this is Node ${versions.node}\n`,
    )
  }
  if (typescript) print('Types: npm install --save-dev typescript @types/node && npx tsc\n')
  if (isTooOld) return
  const steps = [
    ...(folder === '.' ? [] : [`cd ${shellWord(printable(folder))}`]),
    ...(isInstalled ? [] : ['npm install']),
    'npm test',
    'npm start',
  ]
  print(`Next: ${steps.join(' && ')}\n`)
}

// Quotes a text for a shell, if it needs that.
function shellWord(text: string): string {
  return /^[\w./@%+=:,~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
