import assert from 'node:assert/strict'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  loadControllers,
  warningAboutFolder,
  warningsAbout,
} from '../../lib/controllers/load-controllers.ts'
import { lineOf } from '../../lib/controllers/load-file.ts'
import { FrontController, HttpRequest } from '../../lib/index.ts'
import { createFolder, type Files, writeFileIn } from '../support/folder.ts'

// The types of Node 20 do not declare it.
const runsTypeScript = Boolean((process.features as { typescript?: unknown }).typescript)

const list = 'export function list(_, response) { response.text(import.meta.url) }'

describe('loadControllers()', () => {
  it('names a link to nothing', async (t) => {
    const folder = createFolder(t)
    await symlink('nothing', join(folder, 'news.js'))
    await assert.rejects(loadControllers(folder), {
      message: `"${join(folder, 'news.js')}" among the controllers can't be read: ENOENT`,
    })
  })

  it('loads files as controllers, folders as modules, and exported functions as actions', async (t) => {
    const root = createModules(t, {
      'news.js': list,
      'user-admin.mjs': list,
      'admin/news.js': list,
      'admin/index.js': list,
    })
    const { controllers, modules } = await loadControllers(root)
    assert.deepEqual([...controllers.keys()], ['news', 'user-admin'])
    assert.deepEqual(
      [...modules].map(([name, each]) => [name, [...each.keys()]]),
      [['admin', ['index', 'news']]],
    )

    const front = new FrontController({ controllers, modules })
    for (const [target, file] of [
      ['/news/list', '/news.js'],
      ['/user-admin/list', '/user-admin.mjs'],
      ['/admin/news/list', '/admin/news.js'],
    ] as const) {
      const { body } = await front.handle(new HttpRequest({ target }))
      assert.ok(String(body).endsWith(file), `${target}: ${body}`)
    }
  })

  it('ignores files that are not controllers', async (t) => {
    const broken = 'throw new Error("loaded")'
    const root = createModules(t, {
      'news.js': list,
      'README.md': 'x',
      'news.txt': broken,
      'data.json': '{}',
      'old.js.bak': broken,
      '.hidden.js': broken,
      '.git/hook.js': broken,
      'node_modules/x.js': broken,
      'node_modules/y/index.js': broken,
      'assets/style.css': '',
      'admin/news.js': list,
      'admin/deeper/news.js': broken,
      'admin/.hidden.js': broken,
    })
    await mkdir(join(root, 'empty'))
    await mkdir(join(root, 'folder.js'))
    const { controllers, modules } = await loadControllers(root)
    assert.deepEqual([...controllers.keys()], ['news'])
    assert.deepEqual([...modules.keys()], ['admin'])
    assert.deepEqual([...(modules.get('admin')?.keys() ?? [])], ['news'])
  })

  it('follows links', async (t) => {
    const root = createModules(t, { 'news.js': list })
    const other = createModules(t, { 'a.js': list, 'm/b.js': list })
    await symlink(join(other, 'a.js'), join(root, 'linked.js'))
    await symlink(join(other, 'm'), join(root, 'admin'))
    const { controllers, modules } = await loadControllers(root)
    assert.deepEqual([...controllers.keys()], ['linked', 'news'])
    assert.deepEqual([...modules.keys()], ['admin'])
  })

  it('returns nothing for an empty folder', async (t) => {
    const { controllers, modules } = await loadControllers(createModules(t, {}))
    assert.deepEqual([controllers.size, modules.size], [0, 0])
  })

  it('names the folder that cannot be read', async (t) => {
    const root = createModules(t, { 'news.js': list })
    for (const [path, code] of [
      [join(root, 'missing'), 'ENOENT'],
      [join(root, 'news.js'), 'ENOTDIR'],
    ] as const) {
      await assert.rejects(loadControllers(path), {
        message: `The folder of controllers "${path}" can't be read: ${code}`,
      })
    }
  })

  it('says where the controllers of the module "default" belong', async (t) => {
    const root = createModules(t, { 'default/news.js': list })
    await assert.rejects(loadControllers(root), {
      message: `Move the controllers of "${join(root, 'default')}" to "${root}"`,
    })
  })

  // Calls lineOf() with an object that is not an Error: Deno ends if a file throws such an Error, and Bun throws when an Error gets
  // these values.
  it('describes an error whose message and stack are any values', () => {
    const fail = (): never => {
      throw new Error('called')
    }
    for (const value of [
      1,
      null,
      undefined,
      Symbol('s'),
      Object.create(null),
      { toString: fail },
    ]) {
      assert.equal(lineOf({ message: value, stack: value } as never), 'it throws')
    }
  })

  it('names the file that does not load, in one line, with its cause', async (t) => {
    const table: [string, (file: string, url: string) => string][] = [
      ['throw new Error("first\\nsecond")', (_, url) => `first, at ${url}:1:7`],
      ['\n\n throw new TypeError("third")', (_, url) => `third, at ${url}:3:8`],
      [
        'export default { get list() { throw new Error("getter") } }',
        (_, url) => `getter, at ${url}:1:37`,
      ],
      ['throw new Error("")', (_, url) => `it throws, at ${url}:1:7`],
      [
        '\nexport function (',
        (_, url) => `Function statements require a function name, at ${url}:2`,
      ],
      [
        '\nimport { nothing } from "../news.js"',
        (_, url) =>
          `The requested module '../news.js' does not provide an export named 'nothing', at ${url}:2`,
      ],
      [
        'import "./missing.js"',
        (file) => `Cannot find module '${join(dirname(file), 'missing.js')}' imported from ${file}`,
      ],
    ]
    for (const [source, reason] of table) {
      const root = createModules(t, { 'admin/bad.js': source, 'news.js': list })
      const file = join(root, 'admin', 'bad.js')
      const expected = `The controller "${file}" does not load: ${reason(file, pathToFileURL(file).href)}`
      await assert.rejects(loadControllers(root), (error: Error) => {
        assert.equal(error.message, expected)
        assert.ok('cause' in error)
        return true
      })
    }
  })

  for (const [what, path, source] of [
    [
      'a default export',
      'news.js',
      'export default { list(_, response) { response.text(this.a) }, a: "A" }',
    ],
    [
      'module.exports',
      'news.cjs',
      'module.exports = { list(_, response) { response.text(this.a) }, a: "A" }',
    ],
    ['exports.<name>', 'news.cjs', 'exports.list = (_, response) => response.text("A")'],
    [
      'exports.<name> in a package without a type',
      'none/news.js',
      'exports.list = (_, response) => response.text("A")',
    ],
    [
      'export in a package without a type',
      'none/news.js',
      'export const list = (_, response) => response.text("A")',
    ],
    [
      'await in a package without a type',
      'none/news.js',
      'await 1\nexport const list = (_, response) => response.text("A")',
    ],
    [
      'a transpiled default export',
      'news.cjs',
      `
      Object.defineProperty(exports, '__esModule', { value: true })
      exports.default = { list: (_, response) => response.text('A') }`,
    ],
  ] as const) {
    it(`finds the actions of ${what}`, async (t) => {
      const root = createModules(t, { 'none/package.json': '{}', [path]: source })
      const { controllers } = await loadControllers(dirname(join(root, path)))
      const front = new FrontController({ controllers })
      const { body } = await front.handle(new HttpRequest({ target: '/news/list' }))
      assert.equal(body, 'A')
    })
  }

  it('ignores the default export of a file that exports actions by name', async (t) => {
    const root = createModules(t, { 'news.js': `${list}\nexport default { other() {} }` })
    const { controllers } = await loadControllers(root)
    assert.deepEqual(Object.keys(controllers.get('news') ?? {}), ['default', 'list'])
  })

  it('names the file and the remedy if an ES module is loaded as CommonJS', async (t) => {
    for (const source of [list, 'import "node:fs"', 'export const a = import.meta.url']) {
      const root = createFolder(t, {
        'package.json': '{"type":"commonjs"}',
        'a/news.js': source,
        'a/b.cjs': source,
      })
      const remedies = {
        'a/b.cjs': 'name it "b.mjs"',
        'a/news.js': `set "type": "module" in "${join(root, 'package.json')}", or name it "news.mjs"`,
      }
      for (const [path, remedy] of Object.entries(remedies)) {
        await assert.rejects(loadControllers(join(root, 'a')), {
          message: `The controller "${join(root, path)}" does not load: it is an ES module, but Node loads it as CommonJS: ${remedy}`,
        })
        await rm(join(root, path))
      }
    }
  })

  it('names the line of a CommonJS file that does not load', async (t) => {
    for (const [source, reason] of [
      ['throw new Error("no")', 'no, at URL:1:7'],
      ['\nlet a = ;', "Unexpected token ';', at URL:2"],
    ] as const) {
      const root = createModules(t, { 'bad.cjs': source })
      const file = join(root, 'bad.cjs')
      const { href } = pathToFileURL(file)
      await assert.rejects(loadControllers(root), {
        message: `The controller "${file}" does not load: ${reason.replace('URL', href)}`,
      })
    }
  })

  it('ignores tests', async (t) => {
    const broken = 'throw new Error("loaded")'
    const files = { 'news.js': list, 'news.test.js': broken, 'news.spec.mjs': broken }
    const { controllers, modules } = await loadControllers(
      createModules(t, { ...files, 'admin/a.test.js': broken }),
    )
    assert.deepEqual([[...controllers.keys()], modules.size], [['news'], 0])
  })

  it('loads TypeScript where Node runs it, else names the version that does', async (t) => {
    const source =
      'export const list = (_: unknown, r: { text(s: string): void }): void => r.text("ts")'
    const broken = 'throw new Error("loaded")'
    const others = ['news.d.ts', 'other.d.mts', 'news.test.ts', 'news.spec.mts', 'news.test.d.ts']
    const ignored = Object.fromEntries(others.map((name) => [name, broken]))
    for (const path of ['news.ts', 'news.mts', 'none/news.ts', 'common/news.ts']) {
      const root = createModules(t, {
        ...{ 'none/package.json': '{}', 'common/package.json': '{"type":"commonjs"}' },
        [path]: path === 'common/news.ts' ? source.replace('export const ', 'exports.') : source,
      })
      const folder = dirname(join(root, path))
      for (const [name, text] of Object.entries(ignored)) writeFileIn(folder, name, text)
      const loading = loadControllers(folder)
      if (runsTypeScript) {
        const { controllers } = await loading
        assert.deepEqual([...controllers.keys()], ['news'])
        const response = await new FrontController({ controllers }).handle(
          new HttpRequest({ target: '/news/list' }),
        )
        assert.equal(response.body, 'ts')
      } else {
        const file = join(root, path)
        const reason = `Unknown file extension "${extname(path)}" for ${file}: Node.js 22.18 or later runs TypeScript without a build`
        const message = `The controller "${file}" does not load: ${reason}`
        await assert.rejects(loading, { message })
      }
    }
  })

  it('names the line of TypeScript that does not load', { skip: !runsTypeScript }, async (t) => {
    for (const [source, reason] of [
      ['const a: number = 1\nexport const b = ;', 'Expression expected, at URL:2'],
      ['enum A { B }', 'TypeScript enum is not supported in strip-only mode, at URL:1'],
      ['type A = 1\nthrow new Error("x")', 'x, at URL:2:7'],
    ] as const) {
      const file = join(createModules(t, { 'bad.ts': source }), 'bad.ts')
      const message = `The controller "${file}" does not load: ${reason.replace('URL', pathToFileURL(file).href)}`
      await assert.rejects(loadControllers(dirname(file)), { message })
    }
  })

  it('rejects two files of one name', async (t) => {
    for (const [at, extension] of [
      ['', 'mjs'],
      ['admin/', 'mjs'],
      ['', 'cjs'],
      ['', 'ts'],
      ['admin/', 'mts'],
    ] as const) {
      const root = createModules(t, { [`${at}news.js`]: list, [`${at}news.${extension}`]: '' })
      await assert.rejects(loadControllers(root), {
        message: `The controller "news" has two files in "${join(root, at).replace(/\/$/, '')}"`,
      })
    }
  })
})

describe('warningsAbout()', () => {
  it('warns about neither an action nor an error action that is a method of a class', async (t) => {
    const root = createModules(t, {
      'news.js': 'export default new (class { list() {} })()',
      'error.js': 'export default new (class { error() {} })()',
    })
    assert.deepEqual(warningsAbout(await loadControllers(root)), [])
  })

  it('warns about a file that is named as in Zend Framework 1', async (t) => {
    const root = createModules(t, {
      'controller.js': list,
      'NewsController.js': list,
      'admin/UserAdminController.js': list,
    })
    const warning = (path: string, file: string): string =>
      `The controller "${path}" has its whole name in its URLs: name the file "${file}", and its functions without "Action"`
    assert.deepEqual(warningsAbout(await loadControllers(root)), [
      warning('NewsController', 'news.js'),
      warning('admin/UserAdminController', 'user-admin.js'),
    ])
  })
})

describe('warningAboutFolder()', () => {
  it('says what was found in a folder without controllers', async (t) => {
    const names = ['a.cts', 'b.d.ts', 'c.test.js', 'd.json', 'e.txt', 'f.md']
    const empty = createFolder(t)
    const other = createFolder(t, Object.fromEntries(names.map((name) => [name, ''])))
    const start = (folder: string): string =>
      `The folder of controllers "${folder}" has no controller (<name>.js, .mjs, .cjs, .ts or .mts): it`
    for (const [folder, expected] of [
      [empty, `${start(empty)} is empty`],
      [
        other,
        `${start(other)} contains "a.cts", "b.d.ts", "c.test.js", "d.json", "e.txt" and 1 more`,
      ],
      [createFolder(t, { 'a/news.cjs': '' }), undefined],
    ] as const) {
      assert.equal(warningAboutFolder(folder, await loadControllers(folder)), expected)
    }
  })
})

function createModules(t: TestContext, files: Files): string {
  return createFolder(t, { 'package.json': '{"type":"module"}', ...files })
}
