// Writes dist/package.json and dist/templates/, after tsc: node tools/write-package.js
//
// The file makes dist/ a complete package. So dist/ can be copied to a server, `node server.js` reads the version from it, and
// the built tests can import 'portico'. The npm package does not contain this file: it has the package.json of the repository.

import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs'

const ROOT = new URL('..', import.meta.url)
// The other fields (scripts, development dependencies, fields for the npm registry) have no use in dist/.
const FIELDS = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'engines',
  'peerDependencies',
  'peerDependenciesMeta',
  'exports',
]

const whole = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))
const kept = Object.fromEntries(FIELDS.map((field) => [field, whole[field]]))
// Paths such as ./dist/lib/index.js are relative to the repository; in dist/ the same file is ./lib/index.js.
const text = JSON.stringify(kept, null, 2).replaceAll('./dist/', './')
writeFileSync(new URL('dist/package.json', ROOT), `${text}\n`)

// For `portico init`.
cpSync(new URL('templates', ROOT), new URL('dist/templates', ROOT), { recursive: true })
copyFileSync(new URL('deploy/Dockerfile', ROOT), new URL('dist/templates/Dockerfile', ROOT))
