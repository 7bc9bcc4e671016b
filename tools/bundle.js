// Bundles the built program in dist/ into a few files, because loading more than a hundred files takes most of the start time.
//
//   node tools/bundle.js [FOLDER]     FOLDER contains dist/ (default: this repository)
//
// Files that both server.js and lib/index.js import are in lib/chunks/core.js. A command that server.js imports when requested
// has a chunk of its own.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rollup } from 'rollup'
import { minify } from 'terser'
import { publicDeclarations } from './declarations.js'

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)))
const dist = join(root, 'dist')
const entryPoints = [
  'server',
  ...['index', 'observe', 'session', 'sign-in', 'testing'].map((name) => `lib/${name}`),
]
const [program, library] = entryPoints.map(fileOf)
const { version, peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))

// A class or an arrow function has the name of its variable. Those inside of a function do not need one: its frame has a name.
const NAMED = /^(?:export )?const ([\w$]+) = (?:class\b|(?:async )?(?:\([^()]*\)|[\w$]+) =>)/gm

const DECLARED = /\bfunction\*? ([\w$]+)/g

// An error is the same without `new`.
const NEW_ERROR = /\bnew (?=(?:Type|Range)?Error\()/g

// In a function, `let` is as fast as `const`, and shorter.
const LOCAL_CONST = /^( +|.*\bfor (?:await )?\()const /gm

// Node 18 has no such function. Every file of the package loads this chunk first.
const NODE_CHECK = "if (!getBuiltinModule) throw Error('Portico needs Node.js 20.19 or newer');"

// The helper of tsc for import(), which returns every URL unchanged.
const IMPORT_HELPER =
  /^var __rewriteRelativeImportExtension = .*?^};|\b__rewriteRelativeImportExtension\b/gms

// A field without a value that the constructor always assigns, as tsc writes both.
const ASSIGNED_FIELD =
  /^ {4}(\w+);\n(?=(?:(?!\}).*\n)*? {4}constructor\(.*\n(?: {8}.*\n)*? {8}this\.\1 = )/gm

const BUILT_IN_IMPORT = /^import (.+) from '(node:[^']+)';$/gm

// Functions that need no `this` and classes, which nobody replaces. As variables, they are shorter. Their frames have the name alone.
const FREQUENT =
  /(?<![\w$.])(?:(?:Array|JSON|Math|Number|Object|Reflect)\.[a-z]\w+|(?:Range|Type)?Error|Number|String|Boolean|(?:Weak)?Map|Set|RegExp|Promise|AbortController|URLSearchParams|(?:de|en)codeURIComponent)(?=\()/g
// A single use would not pay for the variable.
const MIN_USES = 2

// Names that are longer than their numbers.
const SHORTER = {
  'Number.POSITIVE_INFINITY': Number.POSITIVE_INFINITY,
  'Number.NEGATIVE_INFINITY': Number.NEGATIVE_INFINITY,
  'Number.MAX_SAFE_INTEGER': Number.MAX_SAFE_INTEGER,
}

const built = (await readdir(dist, { recursive: true })).filter(isBuilt)
const bundle = await rollup({
  input: Object.fromEntries(entryPoints.map((name) => [name, fileOf(name)])),
  external: [/^node:/, ...Object.keys(peerDependencies)],
  // Rollup removes what it regards as without effect, and so removed the release of a message. Terser removes unused functions.
  treeshake: false,
  plugins: [
    { name: 'version', load: withVersion },
    { name: 'import()', transform: withoutHelper },
    { name: 'fields', transform: withoutFields },
    { name: 'built-in modules', renderChunk: withoutGetters },
  ],
})
const { output } = await bundle.generate({
  chunkFileNames: 'lib/chunks/[name].js',
  hoistTransitiveImports: false,
  manualChunks,
  onlyExplicitManualChunks: true,
})
const declarations = publicDeclarations(
  entryPoints.slice(1).map((name) => join(dist, `${name}.d.ts`)),
)
for (const name of built) await rm(join(dist, name))
for (const { fileName, code } of output) await write(join(dist, fileName), await shorten(code))
for (const [path, text] of declarations) await write(path, text)

function fileOf(name) {
  return join(dist, `${name}.js`)
}

// To find and to read package.json takes 1.3 ms of each start.
function withVersion(id) {
  if (id !== fileOf('lib/process/version')) return undefined
  return `export function version() { return ${JSON.stringify(version)} }`
}

function withoutHelper(code) {
  return code.replace(IMPORT_HELPER, '')
}

// The object has the property anyway: no constructor returns before it assigns. Errors keep their declarations: a class of the
// application that extends one may have an accessor of the name, and then only the declaration defines the property.
function withoutFields(code) {
  return / extends \w*Error\b/.test(code) ? code : code.replace(ASSIGNED_FIELD, '')
}

// An import of a built-in module calls each getter of its exports, and some load other modules: those of `node:http` load undici,
// 320 of the 540 million instructions of a start with it on Node 24 (https://github.com/nodejs/node/issues/59686).
// `getBuiltinModule` calls none. Instrumentations wrap it as they wrap `require`.
function withoutGetters(code, { name }) {
  // The variables of the modules that are imported as a whole, too.
  const variables = new Map()
  const withoutImports = code.replace(BUILT_IN_IMPORT, (_, names, module) =>
    names
      .split(/, (?=\{)/)
      .map((each) => each.replace('* as ', '').replaceAll(' as ', ': '))
      .map((pattern) => {
        const source = variables.get(module) ?? `getBuiltinModule('${module}')`
        if (!pattern.startsWith('{')) variables.set(module, pattern)
        return `const ${pattern} = ${source};`
      })
      .join(''),
  )
  if (withoutImports === code) return null
  const check = name === 'core' ? NODE_CHECK : ''
  return withoutImports
    .replaceAll('process.getBuiltinModule(', 'getBuiltinModule(')
    .replace(/^(?:import|const) /m, `const { getBuiltinModule } = process;${check}$&`)
}

function manualChunks(id, { getModuleInfo }) {
  return [program, library].every((file) => importsOf(file, getModuleInfo).has(id))
    ? 'core'
    : undefined
}

// Returns the files that a file imports when it is loaded, and those that they import.
function importsOf(file, getModuleInfo, found = new Set()) {
  for (const id of getModuleInfo(file)?.importedIds ?? []) {
    if (found.has(id)) continue
    found.add(id)
    importsOf(id, getModuleInfo, found)
  }
  return found
}

async function write(path, text) {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

// Shortens the code by a third. Functions and classes keep their names and stay apart, so that a stack trace is readable.
async function shorten(text) {
  const named = [...text.matchAll(NAMED)].map(([, name]) => name)
  const declared = [...text.matchAll(DECLARED)].map(([, name]) => name)
  const short = text.replace(NEW_ERROR, '').replace(LOCAL_CONST, '$1let ')
  const { code } = await minify(withVariables(short), {
    module: true,
    ecma: 2020,
    keep_classnames: true,
    // With `true`, the arrow functions inside of functions would keep their names too.
    keep_fnames: new RegExp(`^(?:${declared.join('|').replaceAll('$', '\\$')})$`),
    compress: {
      passes: 2,
      inline: 1,
      reduce_funcs: false,
      hoist_funs: true,
      global_defs: SHORTER,
    },
    mangle: { reserved: named },
    // V8 reads a file of ASCII in half the memory. Node prints the line of an exception that nothing catches.
    format: { max_line_len: 500, ascii_only: true },
  })
  return code
}

// Returns the text with a variable for each frequent function of the language.
function withVariables(text) {
  const uses = new Map()
  for (const [path] of text.matchAll(FREQUENT)) uses.set(path, (uses.get(path) ?? 0) + 1)
  const isFrequent = (path) => uses.get(path) >= MIN_USES
  const declared = [...uses.keys()].filter(isFrequent).map((path) => `${nameOf(path)} = ${path}`)
  if (declared.length === 0) return text
  const replaced = text.replace(FREQUENT, (path) => (isFrequent(path) ? nameOf(path) : path))
  // The program begins with the line for the shell.
  return replaced.replace(/^(?:#!.*\n)?/, `$&const ${declared.join(', ')};`)
}

function nameOf(path) {
  return `${path.replace('.', '_')}_`
}

function isBuilt(name) {
  return /^(?:lib\/(?:[\w-]+\/)?)?[\w-]+\.(?:js|js\.map|d\.ts)$/.test(name)
}
