// Bundles the built program in dist/ into a few files, because loading about sixty files takes most of the start time.
//
//   node tools/bundle.js [FOLDER]     FOLDER contains dist/ (default: this repository)

import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'
import { publicDeclarations } from './declarations.js'

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)))
const dist = join(root, 'dist')
const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const entryPoints = ['server.js', 'lib/index.js', 'lib/testing.js'].map((file) => join(dist, file))

const options = {
  // Shortens the syntax, and removes white space, which is a sixth of the bundle. Names stay, so that a stack trace is readable.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 240,
  target: `node${engines.node.replace('>=', '')}`,
  logLevel: 'warning',
}

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
  ...options,
})
for (const { path, text } of outputFiles) {
  await writeFile(path, path === entryPoints[0] ? await shorten(text) : text)
}
const declarations = publicDeclarations(
  entryPoints.slice(1).map((file) => file.replace(/\.js$/, '.d.ts')),
)
for (const [path, text] of declarations) await writeFile(path, text)
const kept = new Set([...entryPoints, ...declarations.keys()])
for (const file of built.map((name) => join(dist, name))) {
  if (!kept.has(file)) await rm(file)
}

// Also renames the variables of the program: a fifth of its size. A stack trace still shows the names of its functions.
async function shorten(text) {
  const { code } = await transform(text, { ...options, minifyIdentifiers: true, keepNames: true })
  return code
}

function isBuilt(name) {
  return /^(?:lib\/(?:[\w-]+\/)?)?[\w-]+\.(?:js|js\.map|d\.ts)$/.test(name)
}
