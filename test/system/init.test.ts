import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createFolder, createFolderInPackage, type Files, writeFileIn } from '../support/folder.ts'
import { exchange } from '../support/http.ts'
import { install, pack, runCommand } from '../support/package.ts'
import { findFreePorts } from '../support/ports.ts'
import { repositoryFile } from '../support/repository.ts'
import { runNode } from '../support/run-node.ts'
import { type Outcome, ServerProcess } from '../support/server-process.ts'

const CODE = ['app', 'controllers/error', 'controllers/index', 'controllers/news', 'test/app.test']
const OTHERS = ['.dockerignore', '.gitignore', 'Dockerfile', 'package.json']
const NO_TEST = 'echo "Error: no test specified" && exit 1'
const BIN = 'node_modules/.bin/portico'
const stripsTypes = Boolean((process.features as { typescript?: unknown }).typescript)

describe('portico init', () => {
  it('writes an application whose tests pass, and says what it writes', async (t) => {
    const { folder, outcome } = await init(t)
    const files = [...CODE.map((name) => `${name}.js`), ...OTHERS].sort()
    assert.deepEqual(filesIn(folder), files)
    const lines = outcome.stdout.trimEnd().split('\n')
    assert.deepEqual(lines.slice(0, -1).sort(), files.map((name) => `wrote ${name}`).sort())
    assert.equal(lines.at(-1), `Next: cd ${folder} && npm install && npm test && npm start`)
    assert.deepEqual([outcome.code, outcome.stderr], [0, ''])
    await passesTests(folder)
    await compiles(folder, [
      '--ignoreConfig',
      '--allowJs',
      '--checkJs',
      '--types',
      'node',
      'test/app.test.js',
    ])
  })

  it('makes a package.json readable for no other user than before', async (t) => {
    const folder = createFolder(t, { 'package.json': '{}' })
    chmodSync(join(folder, 'package.json'), 0o600)
    assert.match((await run(t, [folder])).stdout, /^changed package\.json/)
    assert.equal(statSync(join(folder, 'package.json')).mode & 0o777, 0o600)
  })

  it('creates the folder', async (t) => {
    const folder = join(createFolder(t), 'a/b')
    assert.equal((await run(t, [folder])).code, 0)
    assert.ok(filesIn(folder).includes('app.js'))
  })

  it('writes a package.json with the scripts and the dependency', async (t) => {
    const { folder } = await init(t)
    const { version } = JSON.parse(readFileSync(repositoryFile('package.json'), 'utf8'))
    assert.deepEqual(packageIn(folder), {
      private: true,
      type: 'module',
      scripts: {
        start: 'portico --app app.js',
        dev: 'portico --app app.js --watch',
        test: 'node --test',
      },
      dependencies: { portico: `^${version}` },
    })
  })

  it('keeps the secrets of .env out of git and of the image', async (t) => {
    const { folder } = await init(t)
    for (const name of ['.gitignore', '.dockerignore']) {
      assert.match(readFileSync(join(folder, name), 'utf8'), /^node_modules\n\.env\n$/m, name)
    }
  })

  it('overwrites no file, and says so', async (t) => {
    const own = { 'app.js': 'own', 'controllers/news.js': 'own', Dockerfile: 'own' }
    const { folder, outcome } = await init(t, own)
    for (const name of Object.keys(own)) {
      assert.equal(readFileSync(join(folder, name), 'utf8'), 'own')
      assert.match(outcome.stdout, new RegExp(`^kept ${name}: it exists$`, 'm'))
    }
    const before = contentsOf(folder)
    const again = await run(t, [folder])
    assert.equal(again.code, 0)
    assert.doesNotMatch(again.stdout, /wrote|added/)
    assert.deepEqual(contentsOf(folder), before)
  })

  it('writes nothing beside an application in the other language', async (t) => {
    const table: [existing: string, args: string[], line: string][] = [
      ['app.js', ['--ts'], '"app.js": run init without --ts'],
      ['app.cjs', ['--ts'], '"app.cjs": run init without --ts'],
      ['controllers/admin/a.mjs', ['--ts'], '"controllers/admin/a.mjs": run init without --ts'],
      ['app.mts', [], '"app.mts": run init with --ts'],
      ['controllers/a.ts', [], '"controllers/a.ts": run init with --ts'],
    ]
    for (const [existing, args, line] of table) {
      const folder = createFolder(t, { [existing]: '', 'package.json': '{}' })
      const before = contentsOf(folder)
      const { code, stdout, stderr } = await run(t, [folder, ...args])
      const problem = `portico: There is an application with ${line}, or in another folder\n`
      assert.deepEqual([code, stdout, stderr], [1, '', problem])
      assert.deepEqual(contentsOf(folder), before)
    }
    for (const [existing, args] of [
      ['vite.config.js', ['--ts']],
      ['controllers/a.d.ts', []],
    ] as const) {
      assert.equal((await run(t, [createFolder(t, { [existing]: '' }), ...args])).code, 0, existing)
    }
  })

  it('only adds what is missing to a package.json, in its own indentation', async (t) => {
    const text =
      '{\r\n\t"name": "a",\r\n\t"scripts": {\r\n\t\t"start": "node a.js",\r\n\t\t"lint": "b"\r\n\t},\r\n\t"dependencies": {\r\n\t\t"portico": "1"\r\n\t}\r\n}'
    const { folder, outcome } = await init(t, { 'package.json': text })
    const completed = readFileSync(join(folder, 'package.json'), 'utf8')
    assert.equal(
      completed,
      text
        .replace(
          '"b"',
          '"b",\r\n\t\t"dev": "portico --app app.js --watch",\r\n\t\t"test": "node --test"',
        )
        .replace(/\}$/, '')
        .replace(/\r\n$/, ',\r\n\t"type": "module"\r\n}'),
    )
    assert.match(outcome.stdout, /^changed package.json: added type, scripts.dev, scripts.test$/m)
    assert.match(outcome.stdout, /^kept the script "start", which is not "portico --app app.js"$/m)
    assert.match(outcome.stdout, /&& npm test && npm start$/m)
  })

  it('does not touch a complete package.json', async (t) => {
    const { folder } = await init(t)
    const text = JSON.stringify(packageIn(folder))
    writeFileIn(folder, 'package.json', text)
    const { stdout } = await run(t, [folder])
    assert.match(stdout, /^kept package.json$/m)
    assert.equal(readFileSync(join(folder, 'package.json'), 'utf8'), text)
  })

  it('adds no dependency that is a development dependency', async (t) => {
    const text = '{"devDependencies":{"portico":"1"}}'
    const { folder } = await init(t, { 'package.json': text })
    assert.equal(packageIn(folder).dependencies, undefined)
  })

  it('adds no type to a project with files, which Node loads by their syntax', async (t) => {
    for (const source of ["require('node:fs')", "import 'node:fs'"]) {
      const files = { 'package.json': '{"main":"src/index.js"}', 'src/index.js': source }
      const { folder, outcome } = await init(t, files)
      const { type, scripts } = packageIn(folder)
      assert.deepEqual([type, scripts.start], [undefined, 'portico --app app.mjs'])
      assert.match(outcome.stdout, /^"type" is absent, so the files end in \.mjs$/m)
      execFileSync(process.execPath, [join(folder, 'src/index.js')])
      await passesTests(folder)
    }

    // `npm init` of npm 10 names this file, which does not exist.
    const { folder: another } = await init(t, { 'package.json': '{"main":"index.js"}' })
    assert.equal(packageIn(another).type, 'module')
  })

  it('writes .mjs files for a package.json of `npm init`, which is "commonjs"', async (t) => {
    const text = JSON.stringify({ name: 'a', type: 'commonjs', scripts: { test: NO_TEST } })
    const { folder, outcome } = await init(t, { 'package.json': text })
    assert.deepEqual(filesIn(folder), [...CODE.map((name) => `${name}.mjs`), ...OTHERS].sort())
    assert.match(outcome.stdout, /^"type" is "commonjs", so the files end in \.mjs$/m)
    const { type, scripts } = packageIn(folder)
    assert.deepEqual([type, scripts.start], ['commonjs', 'portico --app app.mjs'])
    assert.equal(scripts.test, 'node --test')
    assert.match(readFileSync(join(folder, 'Dockerfile'), 'utf8'), /"--app", "app\.mjs"/)
    await passesTests(folder)
  })

  for (const type of ['module', 'commonjs']) {
    it(`writes TypeScript that compiles with --ts, for the type "${type}"`, async (t) => {
      const extension = type === 'module' ? 'ts' : 'mts'
      const text = JSON.stringify({ type })
      const { folder, outcome } = await init(t, { 'package.json': text }, ['--ts'])
      const files = [...CODE.map((name) => `${name}.${extension}`), ...OTHERS, 'tsconfig.json']
      assert.deepEqual(filesIn(folder), files.sort())
      assert.equal(packageIn(folder).scripts.start, `portico --app app.${extension}`)
      await compiles(folder, ['--project', '.'])
      const needsNewer = /^The files need Node 22\.18 or newer, and this is Node \d/m
      assert.equal(needsNewer.test(outcome.stdout), !stripsTypes)
      assert.match(
        outcome.stdout,
        /^Types: npm install --save-dev typescript @types\/node && npx tsc$/m,
      )
      if (stripsTypes) await passesTests(folder)
    })
  }

  for (const [args, problem] of [
    [['--x'], 'Unexpected argument "--x": expected init [DIR] [--ts]'],
    [['a', 'b'], 'Unexpected argument "b": expected init [DIR] [--ts]'],
    [[''], 'Unexpected argument "": expected init [DIR] [--ts]'],
  ] as const) {
    it(`rejects the arguments ${JSON.stringify(args)} in one line`, async (t) => {
      const { code, stdout, stderr } = await run(t, args)
      assert.deepEqual([code, stdout, stderr], [2, '', `portico: ${problem}\n`])
    })
  }

  it('rejects a path that is a file, in one line', async (t) => {
    const folder = createFolder(t, { a: '' })
    for (const path of [join(folder, 'a'), join(folder, 'a/b')]) {
      const { code, stdout, stderr } = await run(t, [path])
      const problem = `portico: Can't write to ${JSON.stringify(path)}: it is not a folder\n`
      assert.deepEqual([code, stdout, stderr], [1, '', problem])
    }
  })

  it('names what it cannot write', async (t) => {
    const { folder, outcome } = await init(t, { controllers: '' })
    const path = JSON.stringify(join(folder, 'controllers'))
    assert.equal(outcome.code, 1)
    assert.equal(outcome.stderr, `portico: Can't write to ${path}: it is not a folder\n`)
  })

  for (const text of ['{', 'null', '[]', '{"scripts":"a"}', '{"scripts":[]}', '{"scripts":null}']) {
    it(`writes nothing beside a package.json with ${text}`, async (t) => {
      const { folder, outcome } = await init(t, { 'package.json': text })
      const path = JSON.stringify(join(folder, 'package.json'))
      const problem = `portico: Can't complete ${path}: it is not a valid package.json\n`
      assert.deepEqual([outcome.code, outcome.stdout, outcome.stderr], [1, '', problem])
      assert.deepEqual(contentsOf(folder), { 'package.json': text })
    })
  }
})

describe('portico init in an unusual folder', () => {
  it('names a package.json that is a folder', async (t) => {
    const folder = createFolder(t, { 'package.json/a': '' })
    const { code, stderr } = await run(t, [folder])
    const path = JSON.stringify(join(folder, 'package.json'))
    assert.deepEqual([code, stderr], [1, `portico: Can't write to ${path}: it is not a file\n`])
  })

  for (const [what, name, prepare, reason] of [
    ['a link to nothing', 'package.json', symlinkSync.bind(null, '../new'), 'it is not a file'],
    [
      'a FIFO',
      'package.json',
      (file: string) => execFileSync('mkfifo', [file]),
      'it is not a file',
    ],
    [
      'a link that leads out',
      'controllers',
      symlinkSync.bind(null, '..'),
      'it leads out of the folder',
    ],
    ['a link that leads out', 'test', symlinkSync.bind(null, '..'), 'it leads out of the folder'],
  ] as const) {
    it(`writes nothing if ${name} is ${what}`, { timeout: 10_000 }, async (t) => {
      const outside = createFolder(t, { 'app/README.md': '' })
      const folder = join(outside, 'app')
      prepare(join(folder, name))
      const { code, stderr } = await run(t, [folder])
      const path = JSON.stringify(join(folder, name))
      assert.deepEqual([code, stderr], [1, `portico: Can't write to ${path}: ${reason}\n`])
      assert.deepEqual(readdirSync(outside), ['app'])
      assert.deepEqual(readdirSync(folder).sort(), ['README.md', name].sort())
    })
  }

  it('keeps package.json if the disk is full, and says so in one line', async (t) => {
    const folder = createFolder(t, { 'package.json': '{}' })
    // Files of 0 blocks: the error is EFBIG.
    const command = 'ulimit -f 0; exec "$0" "$@"'
    const args = ['-c', command, process.execPath, repositoryFile('dist/server.js'), 'init', folder]
    // The coverage could not be written either.
    const env = { ...process.env, NODE_V8_COVERAGE: '' }
    const error = await promisify(execFile)('sh', args, { env }).catch((error) => error)
    const problem = `portico: Can't write to ${JSON.stringify(folder)}: EFBIG\n`
    assert.deepEqual([error.code, error.stderr], [1, problem])
    assert.deepEqual(contentsOf(folder), { 'package.json': '{}' })
  })

  it('completes a package.json that begins with a byte order mark', async (t) => {
    const folder = createFolder(t, { 'package.json': '\uFEFF{"private":true}\n' })
    const { code, stdout } = await run(t, [folder])
    assert.deepEqual([code, /changed package\.json/.test(stdout)], [0, true])
  })

  it('quotes the folder in the command to run next', async (t) => {
    const folder = join(createFolder(t), "a b;c'd")
    const { stdout } = await run(t, [folder])
    assert.ok(stdout.includes(`Next: cd '${folder.replace("'", "'\\''")}' && `), stdout)
  })
})

for (const [language, extension, args] of [
  ['JavaScript', 'js', []],
  ['TypeScript', 'ts', ['--ts']],
] as const) {
  const skip =
    extension === 'ts' &&
    !stripsTypes &&
    `Node ${process.versions.node} does not run TypeScript, 22.18 does`

  describe(`portico init in a folder with the installed package, in ${language}`, { skip }, () => {
    const folder = createFolder({ after })

    before(async () => {
      const archive = createFolder({ after })
      const packed = await pack(archive)
      await install(folder, join(archive, packed.filename))
      await runCommand(folder, 'npx', ['portico', 'init', ...args])
    })

    it('adds to the package.json of npm, and passes `npm test`', async () => {
      assert.deepEqual(Object.keys(packageIn(folder)), ['dependencies', 'type', 'scripts'])
      assert.match(await runCommand(folder, 'npm', ['test']), /\bpass 3\b/)
    })

    it('has types that the package satisfies', async () => {
      const types = ['--typeRoots', repositoryFile('node_modules/@types')]
      const inJavaScript = ['--ignoreConfig', '--allowJs', '--checkJs', '--types', 'node']
      const test = 'test/app.test.js'
      await compiles(folder, [
        ...types,
        ...(extension === 'ts' ? ['--project', '.'] : [...inJavaScript, test]),
      ])
    })

    it('is served by the command of `npm start`', async (t) => {
      const [program, ...args] = packageIn(folder).scripts.start.split(' ')
      assert.equal(program, 'portico')
      await serves(t, args, { PORT: '0' })
    })

    it('is served by the image of its Dockerfile, with its health check', async (t) => {
      const text = readFileSync(join(folder, 'Dockerfile'), 'utf8')
      const [command, check] = [/^CMD (.*)$/m, /^HEALTHCHECK .* CMD (.*)$/m].map((pattern) =>
        JSON.parse(pattern.exec(text)?.[1] ?? ''),
      )
      const [port, health] = await findFreePorts(2)
      const variables = [...text.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [
        name,
        value,
      ])
      const env = {
        ...Object.fromEntries(variables),
        PORTICO_PORT: String(port),
        PORTICO_HEALTH_PORT: String(health),
      }
      assert.equal(env.PORTICO_HOST, '0.0.0.0')
      assert.deepEqual([command[0], check[0]], [BIN, BIN])
      await serves(t, command.slice(1), env)
      const checked = new ServerProcess(t, check.slice(1), env, { file: join(folder, BIN), folder })
      assert.equal((await checked.ended).code, 0)
    })

    it('is served by the command of deploy/portico.service', async (t) => {
      const unit = readFileSync(repositoryFile('deploy/portico.service'), 'utf8')
      // Without it, systemd 252 ends Node 20 at its start: V8 calls pkey_alloc.
      assert.match(unit, /^SystemCallFilter=@system-service @pkey$/m)
      assert.match(unit, /^SystemCallErrorNumber=EPERM$/m)
      const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []
      const [node, program, ...args] = command.split(' ')
      assert.deepEqual([node, program, args.at(-1)], ['/usr/bin/node', BIN, 'app.js'])
      await serves(t, [...args.slice(0, -1), `app.${extension}`], {
        PORT: '0',
        NODE_ENV: 'production',
      })
    })

    async function serves(
      t: TestContext,
      args: readonly string[],
      env: Record<string, string>,
    ): Promise<void> {
      const server = new ServerProcess(t, args, env, { file: join(folder, BIN), folder })
      const port = await server.port()
      const { status, body } = await exchange(port, { target: '/news/view/id/1' })
      assert.deepEqual([status, body.includes('Portico opens')], [200, true])
      const list = await exchange(port, { target: '/news/index/page/2' })
      assert.match(list.body, /href="\/news\/view\/id\/1"/)
      const foreign = await exchange(port, {
        method: 'POST',
        target: '/news/save',
        headers: [['Sec-Fetch-Site', 'cross-site']],
      })
      assert.equal(foreign.status, 403)
      const missing = await exchange(port, { target: '/news/view/id/unknown' })
      assert.deepEqual([missing.status, missing.body.includes('no such article')], [404, true])
    }
  })
}

async function init(
  t: TestContext,
  files: Files = {},
  args: readonly string[] = [],
): Promise<{ readonly folder: string; readonly outcome: Outcome }> {
  const folder = createFolderInPackage(t, files)
  // As npm installs it.
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(repositoryFile('dist'), join(folder, 'node_modules/portico'))
  return { folder, outcome: await run(t, [folder, ...args]) }
}

function run(t: TestContext, args: readonly string[]): Promise<Outcome> {
  return new ServerProcess(t, ['init', ...args]).ended
}

async function passesTests(folder: string): Promise<void> {
  const { code, output } = await runNode(['--test'], folder)
  assert.equal(code, 0, output)
  assert.match(output, /\bpass 3\b/)
}

async function compiles(folder: string, args: readonly string[]): Promise<void> {
  const tsc = repositoryFile('node_modules/typescript/bin/tsc')
  const options = ['--noEmit', '--strict', '--module', 'NodeNext', '--target', 'ES2023']
  const { code, output } = await runNode([tsc, ...options, ...args], folder)
  assert.equal(code, 0, output)
}

function filesIn(folder: string): string[] {
  return Object.keys(contentsOf(folder)).sort()
}

// By hand: from Node 22, a recursive readdirSync() would follow the link of node_modules into dist.
function contentsOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true })
  const kept = entries.filter(({ name }) => name !== 'node_modules')
  return Object.fromEntries(
    kept.flatMap((entry) => {
      const path = join(folder, entry.name)
      if (!entry.isDirectory()) return [[entry.name, readFileSync(path, 'utf8')]]
      return Object.entries(contentsOf(path)).map(([name, text]) => [`${entry.name}/${name}`, text])
    }),
  )
}

// biome-ignore lint/suspicious/noExplicitAny: a package.json has any keys.
function packageIn(folder: string): any {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
