import { readFileSync, realpathSync } from 'node:fs'
import { dirname, extname, join, parse } from 'node:path'
import { pathToFileURL } from 'node:url'

/** An error whose message describes a whole file, not a line of it. */
export class FileError extends Error {}

// Matches the errors of V8 for a script with the syntax of an ES module.
const ESM_SYNTAX =
  /^Cannot use import statement outside|^Unexpected token 'export'|^Cannot use 'import\.meta'|^await is only valid/

/**
 * Loads the exports of a file, as Node does: the extension decides, then the `type` in the next
 * package.json, then the syntax.
 *
 * @throws {FileError} If the file is an ES module, and its package.json says that it is CommonJS.
 * @throws Any error of the file.
 */
export async function loadModule(file: string): Promise<object> {
  if (isModule(file)) return import(pathToFileURL(file).href)
  // Node 20 would report an exception of an imported CommonJS file twice, once as an unhandled rejection.
  const { createRequire } = process.getBuiltinModule('node:module')
  return Object(createRequire(file)(file))
}

function isModule(file: string): boolean {
  const extension = extname(file)
  // import() loads TypeScript of both types, as Node decides. Where Node does not strip types, require() would read it as
  // JavaScript.
  if (extension === '.mjs' || /\.[cm]?ts$/.test(file)) return true
  const { type, path } =
    extension === '.cjs' ? { type: 'commonjs' } : packageOf(realpathSync.native(file))
  if (type === 'module') return true
  if (!ESM_SYNTAX.test(syntaxErrorOf(readFileSync(file, 'utf8')))) return false
  if (type !== 'commonjs') return true
  const remedy = path === undefined ? '' : `set "type": "module" in "${path}", or `
  throw new FileError(
    `it is an ES module, but Node loads it as CommonJS: ${remedy}name it "${parse(file).name}.mjs"`,
  )
}

// Returns the next package.json in the folder of the file or above it.
function packageOf(file: string): { readonly type?: unknown; readonly path?: string } {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const path = join(folder, 'package.json')
    const text = textOf(path)
    if (text !== undefined) return { type: JSON.parse(text)?.type, path }
    if (folder === dirname(folder)) return {}
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Most folders have no package.json.
    return undefined
  }
}

// Returns the message of the syntax error that a text has as a CommonJS module; '' if there is none.
function syntaxErrorOf(source: string): string {
  const { Script } = process.getBuiltinModule('node:vm')
  try {
    new Script(`(function () {${source.replace(/^#!/, '//')}\n})`)
    return ''
  } catch (thrown) {
    return (thrown as Error).message
  }
}
