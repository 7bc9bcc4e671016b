import assert from 'node:assert/strict'
import { copyFile, cp, readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as portico from 'portico'
import { createFolder, writeFileIn } from '../support/folder.ts'
import { install, type Packed, pack, runCommand } from '../support/package.ts'
import { repositoryFile } from '../support/repository.ts'

// Of the files that everybody loads, and of those that only an import of a subpath loads.
const MAX_BYTES = 330 * 1_024
const MAX_WING_BYTES = 100 * 1_024
const WING = /^dist\/lib\/(?:observe|process|session|sign-in|testing)(?:\/|\.)/
const IMPORT = /(?:\bfrom|\bimport)\s*\(?"(\.[^"]*)"/g

// The program loads it, and portico/observe, only with a health port.
const HEALTH = 'lib/chunks/health.js'

// Prints whether the message of the last request is collected while its connection is idle.
const IDLE = `import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { FrontController, serve } from 'portico'

const app = { list: (_, response) => response.json({ ok: true }) }
const { server } = await serve(new FrontController({ controllers: { app } }), { port: 0 })
let latest
server.on('request', (message) => {
  latest = new WeakRef(message)
})
const socket = connect(server.address().port, '127.0.0.1')
socket.write('GET /app/list HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')
await once(socket, 'data')
for (let i = 0; i < 5; i++) {
  await setTimeout(20)
  globalThis.gc()
}
process.stdout.write(latest.deref() === undefined ? 'released' : 'kept')
process.exit()
`

// Prints the status of an error whose class has an accessor in place of a field.
const QUOTA = `import { HttpError } from 'portico'

class Quota extends HttpError {
  get code() {
    return 'quota'
  }
}
process.stdout.write(String(new Quota(429, 'The quota is used up').status))
`

// Prints the modules of Node that a start does not need, most of them loaded by getters of others.
const LOADED = `import 'portico'

const unneeded = ['internal/deps/undici/undici', 'internal/process/report', 'fs/promises']
process.stdout.write(unneeded.filter((name) => process.moduleLoadList.includes('NativeModule ' + name)).join())
`

describe('The installed package', () => {
  const project = createFolder({ after })
  let packed: Packed

  const run = (command: string, ...args: string[]): Promise<string> =>
    runCommand(project, command, args)
  const readInstalled = (path: string): Promise<string> =>
    readFile(join(project, 'node_modules/portico/dist', path), 'utf8')

  before(async () => {
    packed = await pack(project)
    writeFileIn(project, 'package.json', '{"type":"module","private":true}')
    await install(project, join(project, packed.filename))
  })

  const filesOf = async (entries: readonly string[]): Promise<ReadonlySet<string>> => {
    const found = new Set<string>()
    for (const file of entries) await visit(file)
    return found
    async function visit(file: string): Promise<void> {
      if (found.has(file) || file === HEALTH) return
      found.add(file)
      for (const [, imported = ''] of (await readInstalled(file)).matchAll(IMPORT)) {
        await visit(posix.join(posix.dirname(file), imported))
      }
    }
  }

  it('contains the necessary files and no others', () => {
    const paths = packed.files.map(({ path }) => path)
    const others = paths.filter(
      (path) => !/^dist\/(lib\/([\w-]+\/)?)?[\w-]+(\.d\.ts|\.js)$/.test(path),
    )
    const copied = others.filter((path) => path.startsWith('dist/templates/'))
    for (const path of ['dist/templates/app.js', 'dist/templates/Dockerfile']) {
      assert.ok(copied.includes(path), path)
    }
    assert.deepEqual(others.filter((path) => !copied.includes(path)).sort(), [
      'LICENSE',
      'README.md',
      'package.json',
    ])
    for (const path of ['dist/lib/index.js', 'dist/lib/index.d.ts', 'dist/server.js']) {
      assert.ok(paths.includes(path), path)
    }
  })

  it('declares no function that it does not export', async () => {
    const entries = ['index', 'observe', 'session', 'sign-in', 'testing'].map((name) =>
      readInstalled(`lib/${name}.d.ts`),
    )
    const exported = (await Promise.all(entries)).join('')
    const declarations = packed.files.filter(({ path }) => path.endsWith('.d.ts'))
    assert.ok(declarations.length > 10, `${declarations.length} files`)
    const others: string[] = []
    for (const { path } of declarations) {
      const text = await readInstalled(path.replace('dist/', ''))
      for (const [, name = ''] of text.matchAll(/(?:^|\*\/)(?:export )?declare function (\w+)/gm)) {
        if (!new RegExp(`\\b${name}\\b`).test(exported)) others.push(`${path} declares ${name}`)
      }
    }
    assert.deepEqual(others, [])
  })

  it('has less than 330 KiB without its subpaths, which have less than 100 KiB', async () => {
    const core = await filesOf(['server.js', 'lib/index.js'])
    const wings = packed.files.filter(({ path }) =>
      path.startsWith('dist/lib/chunks/') ? !core.has(path.replace('dist/', '')) : WING.test(path),
    )
    const bytes = wings.reduce((sum, { size }) => sum + size, 0)
    assert.ok(wings.length > 4, `${wings.length} files`)
    assert.ok(bytes < MAX_WING_BYTES, `${bytes} bytes`)
    assert.ok(packed.unpackedSize - bytes < MAX_BYTES, `${packed.unpackedSize - bytes} bytes`)
  })

  it('loads two files to serve, and each other command when it is requested', async () => {
    const server = await readInstalled('server.js')
    const imported = [...server.matchAll(/\bfrom"(\.[^"]*)"/g)].map(([, file]) => file)
    assert.deepEqual(imported, ['./lib/chunks/core.js'])
    const core = await readInstalled('lib/chunks/core.js')
    assert.doesNotMatch(core, /\bfrom"\./)
    for (const name of ['explain', 'init', 'watch', 'supervise']) {
      assert.match(server, new RegExp(`import\\("\\./lib/chunks/${name}\\.js"\\)`))
    }
  })

  it('says which version of Node it needs on one that is too old', async () => {
    const source = `delete process.getBuiltinModule
await import('portico').catch((error) => process.stdout.write(error.message))
`
    writeFileIn(project, 'old.js', source)
    assert.equal(await run('node', 'old.js'), 'Portico needs Node.js 20.19 or newer')
  })

  it('calls no getter of the modules of Node that it loads', async () => {
    writeFileIn(project, 'loaded.js', LOADED)
    assert.equal(await run('node', 'loaded.js'), '')
    for (const { path } of packed.files.filter((file) => file.path.endsWith('.js'))) {
      if (path.startsWith('dist/templates/')) continue
      assert.doesNotMatch(await readInstalled(path.replace('dist/', '')), /\bfrom"node:/, path)
    }
  })

  // The bundler once removed a statement that releases the message.
  it('keeps nothing of the last request of an idle connection', async () => {
    writeFileIn(project, 'idle.js', IDLE)
    assert.equal(await run('node', '--expose-gc', 'idle.js'), 'released')
  })

  // The bundler drops declarations of fields, but this one defines the property.
  it('lets an application extend an error by an accessor', async () => {
    writeFileIn(project, 'quota.js', QUOTA)
    assert.equal(await run('node', 'quota.js'), '429')
  })

  it('installs no other package', async () => {
    const folders = await readdir(join(project, 'node_modules'))
    assert.deepEqual(
      folders.filter((name) => !name.startsWith('.')),
      ['portico'],
    )
  })

  it('compiles and runs with a program that uses every export', async () => {
    const consumer = await readFile(repositoryFile('test/package/consumer.ts'), 'utf8')
    const doors = ['index', 'observe', 'session', 'sign-in'].map((name) =>
      readFile(repositoryFile(`lib/${name}.ts`), 'utf8'),
    )
    const exported = (await Promise.all(doors)).join('')
    const names = [...exported.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
      list.split(',').map((name) => name.replace('type ', '').trim()),
    )
    for (const name of names.filter((name) => name !== '')) {
      const uses = consumer.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []
      assert.ok(uses.length > 1, `test/package/consumer.ts does not use "${name}"`)
    }
    await copyFile(repositoryFile('test/package/consumer.ts'), join(project, 'consumer.ts'))
    writeFileIn(project, 'controllers/hello.js', 'export function index() {}')
    // The oldest types of Node that Portico supports, and the latest: they differ in their generic types.
    const latest = join(project, 'node_modules/@types')
    await cp(repositoryFile('node_modules/types-node-latest'), join(latest, 'node'), {
      recursive: true,
    })
    for (const typeRoot of [repositoryFile('node_modules/@types'), latest]) {
      const compilerOptions = {
        strict: true,
        exactOptionalPropertyTypes: true,
        target: 'ES2022',
        module: 'NodeNext',
        rootDir: '.',
        types: ['node'],
        typeRoots: [typeRoot],
      }
      const config = { compilerOptions, files: ['consumer.ts'] }
      writeFileIn(project, 'tsconfig.json', JSON.stringify(config))
      await run(process.execPath, repositoryFile('node_modules/typescript/bin/tsc'))
    }
    assert.equal(await run(process.execPath, 'consumer.js'), 'Every export works\n')
  })

  it('can be loaded with require() if Node can require a module', async (t) => {
    if (!(process.features as { require_module?: boolean }).require_module) {
      t.skip('This version of Node cannot require a module')
      return
    }
    const code = "console.log(Object.keys(require('portico')).sort().join())"
    const printed = await run(process.execPath, '--input-type=commonjs', '--eval', code)
    assert.deepEqual(printed.trim().split(',').filter(isName), Object.keys(portico).sort())
  })

  it('prints its version', async () => {
    const { version } = JSON.parse(await readFile(repositoryFile('package.json'), 'utf8'))
    const server = 'node_modules/portico/dist/server.js'
    assert.equal(await run(process.execPath, server, '--version'), `${version}\n`)
  })
})

// A required namespace may have these properties, too.
function isName(name: string): boolean {
  return name !== '__esModule' && name !== 'module.exports'
}
