import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import * as portico from 'portico'
import { repositoryFile } from '../support/repository.ts'

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

const MOST_BYTES = 300 * 1_024

// The environment of `npm test` would set the folder and the options of the npm that is run here.
const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR }

describe('The package, installed into an empty project', () => {
  let project = ''
  let packed: Packed

  const run = async (command: string, ...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(command, args, { cwd: project, env }).catch(
      (error) => assert.fail(`${command} ${args.join(' ')}\n${error.stdout}${error.stderr}`),
    )
    return stdout
  }

  before(async () => {
    project = await mkdtemp(join(tmpdir(), 'portico-'))
    // What prepack does, but in a copy: here it would take dist away under the other tests.
    const copy = join(project, 'copy')
    await mkdir(copy)
    for (const name of ['package.json', 'README.md', 'LICENSE', 'dist']) {
      const isTest = (path: string): boolean => path.includes(join('dist', 'test'))
      const options = { recursive: true, filter: (path: string) => !isTest(path) }
      await cp(repositoryFile(name), join(copy, name), options)
    }
    await run(process.execPath, repositoryFile('tools/bundle.js'), copy)
    const arguments_ = ['--ignore-scripts', '--json', '--pack-destination', project]
    const [one] = JSON.parse(await run('npm', 'pack', copy, ...arguments_))
    packed = one
    await writeFile(join(project, 'package.json'), '{"type":"module","private":true}')
    const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
    await run('npm', 'install', join(project, packed.filename), '--omit=dev', ...quiet)
  })
  after(() => rm(project, { recursive: true }))

  it('holds what is needed and nothing more', () => {
    const paths = packed.files.map(({ path }) => path)
    const others = paths.filter(
      (path) => !/^dist\/(lib\/([\w-]+\/)?)?[\w-]+(\.d\.ts|\.js)$/.test(path),
    )
    assert.deepEqual(others.sort(), ['LICENSE', 'README.md', 'package.json'])
    for (const path of ['dist/lib/index.js', 'dist/lib/index.d.ts', 'dist/server.js']) {
      assert.ok(paths.includes(path), path)
    }
  })

  it('takes less than 300 KiB', () => {
    assert.ok(packed.unpackedSize < MOST_BYTES, `${packed.unpackedSize} bytes`)
  })

  it('is one package', async () => {
    const folders = await readdir(join(project, 'node_modules'))
    assert.deepEqual(
      folders.filter((name) => !name.startsWith('.')),
      ['portico'],
    )
  })

  it('compiles and runs where every export is used', async () => {
    const consumer = await readFile(repositoryFile('test/package/consumer.ts'), 'utf8')
    const index = await readFile(repositoryFile('lib/index.ts'), 'utf8')
    const names = [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
      list.split(',').map((name) => name.replace('type ', '').trim()),
    )
    for (const name of names.filter((name) => name !== '')) {
      const uses = consumer.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []
      assert.ok(uses.length > 1, `test/package/consumer.ts does not use "${name}"`)
    }
    await copyFile(repositoryFile('test/package/consumer.ts'), join(project, 'consumer.ts'))
    await mkdir(join(project, 'controllers'))
    await writeFile(join(project, 'controllers/hello.js'), 'export function index() {}')
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      target: 'ES2022',
      module: 'NodeNext',
      rootDir: '.',
      types: ['node'],
      typeRoots: [repositoryFile('node_modules/@types')],
    }
    const config = { compilerOptions, files: ['consumer.ts'] }
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config))
    await run(process.execPath, repositoryFile('node_modules/typescript/bin/tsc'))
    assert.equal(await run(process.execPath, 'consumer.js'), 'Every export works\n')
  })

  it('can be required where Node can require a module', async (t) => {
    if (!(process.features as { require_module?: boolean }).require_module) {
      t.skip('This Node can not')
      return
    }
    const code = "console.log(Object.keys(require('portico')).sort().join())"
    const told = await run(process.execPath, '--input-type=commonjs', '--eval', code)
    assert.deepEqual(told.trim().split(',').filter(isName), Object.keys(portico).sort())
  })

  it('says its version', async () => {
    const { version } = JSON.parse(await readFile(repositoryFile('package.json'), 'utf8'))
    const server = 'node_modules/portico/dist/server.js'
    assert.equal(await run(process.execPath, server, '--version'), `${version}\n`)
  })
})

// A namespace that is required may say what it is.
function isName(name: string): boolean {
  return name !== '__esModule' && name !== 'module.exports'
}
