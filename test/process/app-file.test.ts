import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { closeApp, createReadyCheck, loadAppFile, NO_APP } from '../../lib/process/app-file.ts'
import { createFolder } from '../support/folder.ts'

const EXPECTED = 'expected the options of a front controller, or a function that returns them'

describe('loadAppFile()', () => {
  it('returns the options, from an object, a function and a promise', async (t) => {
    for (const source of [
      'export default { names: "zf1" }',
      'export default () => ({ names: "zf1" })',
      'export default async () => ({ names: "zf1" })',
      'export const ready = () => true, close = () => {}, before = []\nexport default { names: "zf1" }',
    ]) {
      const { options } = await loadAppFile(createApp(t, source))
      assert.deepEqual(options, { names: 'zf1' }, source)
    }
  })

  it('returns the named exports', async (t) => {
    const source =
      'export default {}\nexport const before = [() => {}]\nexport function close() {}\nexport async function ready() { return true }'
    const { before, close, ready } = await loadAppFile(createApp(t, source))
    assert.deepEqual([before?.length, close?.name, ready?.name], [1, 'close', 'ready'])
  })

  it('names the file and each of several reasons, a line for each', async (t) => {
    const file = createApp(t, 'export default { names: "loose", basePath: "app" }')
    await assert.rejects(loadAppFile(file), ({ message }) => {
      const lines: string[] = message.split('\n')
      for (const [i, name] of ['basePath', 'names'].entries()) {
        const start = `The application file "${file}" does not load: Expected `
        assert.ok(lines[i]?.startsWith(start) && lines[i]?.includes(`"${name}"`), lines[i])
      }
      return lines.length === 2
    })
  })

  it('names the file and the reason, in one line', async (t) => {
    const table: [source: string, reason: string | RegExp][] = [
      ['export const a = 1', `it has no default export: ${EXPECTED}`],
      ['export default "a"', 'its default export is string: expected an object of options'],
      ['export default null', 'its default export is null: expected an object of options'],
      [
        'export default []',
        'its default export is an instance of Array: expected an object of options',
      ],
      [
        'export default () => {}',
        'its default export returned undefined: expected an object of options',
      ],
      [
        'export default new (class Front {})()',
        'its default export is an instance of Front: expected an object of options',
      ],
      [
        'export default { plugin: [] }',
        'There is no "plugin" among the options: did you mean "plugins"?',
      ],
      [
        'export default { limits: { maxBody: 1 } }',
        'There is no "maxBody" among the limits: did you mean "maxBodyBytes"?',
      ],
      [
        'export default { limits: { maxFields: 0 } }',
        'Expected "maxFields" to be a whole number from 1 to 9007199254740991, got "0"',
      ],
      ['export default { names: "loose" }', 'Expected "names" to be "exact" or "zf1", got "loose"'],
      ['export default { plugins: {} }', 'Expected "plugins" to be a list of objects'],
      [
        'export default { routes: { a: { path: "/:id", requirements: { id: "(" } } } }',
        'The route "a" has a requirement for "id" that is not a regular expression',
      ],
      ...['[]', 'new Set()', '() => ({})'].map((routes): (typeof table)[number] => [
        `export default { routes: ${routes} }`,
        'Expected "routes" to be an object or a Map of routes',
      ]),
      ['export default { routes: new Map([["a", { path: "/:i.d" }]]) }', /^The route "a" /],
      [
        'export default {}\nexport const before = 1',
        'Expected "before" to be a list of middlewares: functions (req, res, next)',
      ],
      ['export default {}\nexport const close = 1', 'Expected the export "close" to be a function'],
      [
        'export default {}\nexport const ready = {}',
        'Expected the export "ready" to be a function',
      ],
      [
        'export default {}\nexport const started = true',
        'Expected the export "started" to be a function',
      ],
      ['\nexport default {', /^Unexpected .*, at URL:\d$/],
      ['\nthrow new Error("broken\\nin two lines")', 'broken, at URL:2:7'],
      [
        'export default async () => {\n  throw new Error("no database")\n}',
        'no database, at URL:2:9',
      ],
      ['export default () => Promise.reject("text")', /./],
      ['import "./missing.js"', /^Cannot find module /],
    ]
    for (const [source, expected] of table) {
      const file = createApp(t, source)
      await assert.rejects(loadAppFile(file), ({ message }: Error) => {
        const start = `The application file "${file}" does not load: `
        assert.ok(message.startsWith(start), message)
        const reason = message.slice(start.length).replace(pathToFileURL(file).href, 'URL')
        if (typeof expected === 'string') assert.equal(reason, expected)
        else assert.match(reason, expected)
        assert.doesNotMatch(message, /\n/)
        return true
      })
    }
  })

  it('names the file with each problem of the options and of the routes', async (t) => {
    const file = createApp(t, 'export default { plugins: {}, routes: [] }')
    const start = `The application file "${file}" does not load: `
    await assert.rejects(loadAppFile(file), {
      message: [
        `${start}Expected "plugins" to be a list of objects`,
        `${start}Expected "routes" to be an object or a Map of routes`,
      ].join('\n'),
    })
  })

  it('names a file that does not exist', async (t) => {
    const folder = createFolder(t)
    for (const name of ['app.js', 'app.mjs', 'app.ts']) {
      const message = `The application file "${join(folder, name)}" can't be read: ENOENT`
      await assert.rejects(loadAppFile(join(folder, name)), { message })
    }
  })

  it('names a folder', async (t) => {
    const folder = createFolder(t)
    const message = `The application file "${folder}" is a folder: expected a file`
    await assert.rejects(loadAppFile(folder), { message })
  })
})

describe('createReadyCheck()', () => {
  it('is what ready() returns; false if it fails', async () => {
    const readies: [(() => unknown) | undefined, boolean][] = [
      [undefined, true],
      [() => true, true],
      [async () => true, true],
      [() => false, false],
      [async () => false, false],
      [() => undefined, false],
      [() => Promise.reject(new Error('no')), false],
      [
        () => {
          throw new Error('no')
        },
        false,
      ],
    ]
    for (const [ready, expected] of readies) {
      assert.equal(await createReadyCheck({ ...NO_APP, ready }, () => {})(), expected)
    }
  })

  it('is false after 2 seconds', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const errors: unknown[] = []
    const app = { ...NO_APP, ready: () => new Promise(() => {}) }
    const answer = createReadyCheck(app, (error) => errors.push(error))()
    t.mock.timers.tick(2_000)
    assert.equal(await answer, false)
    assert.deepEqual(errors, [new Error('`ready` is not done after 2000 milliseconds')])
  })

  it('reports the first of several errors in a row', async () => {
    const outcomes = [1, 2, undefined, 3]
    const errors: unknown[] = []
    const ready = async (): Promise<boolean> => {
      const error = outcomes.shift()
      if (error !== undefined) throw error
      return false
    }
    const isReady = createReadyCheck({ ...NO_APP, ready }, (error) => errors.push(error))
    while (outcomes.length > 0) assert.equal(await isReady(), false)
    assert.deepEqual(errors, [1, 3])
  })
})

describe('closeApp()', () => {
  it('rejects with the error of close(), or after the timeout', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    await closeApp(NO_APP, 1)
    const error = new Error('no')
    await assert.rejects(closeApp({ ...NO_APP, close: () => Promise.reject(error) }, 1), error)
    const late = closeApp({ ...NO_APP, close: () => new Promise(() => {}) }, 4.5)
    t.mock.timers.tick(5)
    await assert.rejects(late, { message: '`close` is not done after 5 milliseconds' })
  })
})

function createApp(t: TestContext, source: string): string {
  const files = { 'package.json': '{"type":"module"}', 'app.js': source }
  return join(createFolder(t, files), 'app.js')
}
