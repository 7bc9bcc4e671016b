// Bundles the built program in dist/ into a few files, because loading about sixty files takes most of the start time.
//
//   node tools/bundle.js [FOLDER]     FOLDER contains dist/ (default: this repository)

import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { minify } from 'terser'
import { publicDeclarations } from './declarations.js'

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)))
const dist = join(root, 'dist')
const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const entryPoints = ['server', 'lib/index', 'lib/session', 'lib/sign-in', 'lib/testing'].map(
  (file) => join(dist, `${file}.js`),
)

// A class or an arrow function has the name of its variable.
const NAMED = /([\w$]+) = (?:class\b|(?:async )?(?:\([^()]*\)|[\w$]+) =>)/g

// List the built files first: esbuild overwrites some of them with the bundle.
const built = (await readdir(dist, { recursive: true })).filter(isBuilt)
const { outputFiles } = await build({
  entryPoints,
  outdir: dist,
  outbase: dist,
  chunkNames: 'lib/[name]-[hash]',
  allowOverwrite: true,
  write: false,
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  minifySyntax: true,
  target: `node${engines.node.replace('>=', '')}`,
  logLevel: 'warning',
})
const shared = new Map()
for (const { path, text } of outputFiles) {
  await writeFile(path, renameShared(await shorten(text), basename(path).startsWith('chunk-')))
}
const declarations = publicDeclarations(
  entryPoints.slice(1).map((file) => file.replace(/\.js$/, '.d.ts')),
)
for (const [path, text] of declarations) await writeFile(path, text)
const kept = new Set([...entryPoints, ...declarations.keys()])
for (const file of built.map((name) => join(dist, name))) {
  if (!kept.has(file)) await rm(file)
}

// Removes white space and renames variables: a third of the bundle. The names of functions and classes stay, so that a
// stack trace is readable. terser, because esbuild would keep these names by a call at run time for each function.
async function shorten(text) {
  const reserved = [...text.matchAll(NAMED)].map(([, name]) => name)
  const { code } = await minify(text, {
    parse: { module: true },
    compress: { defaults: false, booleans: true, join_vars: true, lhs_constants: true },
    mangle: { toplevel: true, reserved, keep_classnames: true, keep_fnames: true },
    // V8 reads a file of ASCII in half the memory.
    format: { max_line_len: 2_000, ascii_only: true, ecma: 2020 },
  })
  return code
}

// Shortens the names that chunks export: only the other files of the bundle import them.
function renameShared(code, isChunk) {
  const shortOf = (name) => {
    // From 360 on, a number of base 36 starts with a letter.
    if (!shared.has(name)) shared.set(name, (360 + shared.size).toString(36))
    return shared.get(name)
  }
  const renamed = code.replace(/\bimport\{([^}]*)\}(?=from"[^"]*\/chunk-)/g, (_, list) => {
    const pairs = list.split(',').map((item) => item.split(' as '))
    return `import{${pairs.map(([name, own = name]) => `${shortOf(name)} as ${own}`)}}`
  })
  if (!isChunk) return renamed
  return renamed.replace(/\bexport\{([^}]*)\};?\s*$/, (_, list) => {
    const pairs = list.split(',').map((item) => item.split(' as '))
    return `export{${pairs.map(([own, name = own]) => `${own} as ${shortOf(name)}`)}};`
  })
}

function isBuilt(name) {
  return /^(?:lib\/(?:[\w-]+\/)?)?[\w-]+\.(?:js|js\.map|d\.ts)$/.test(name)
}
