import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { locateSyntaxError } from '../../lib/controllers/syntax-error.ts'
import { createFolder } from '../support/folder.ts'

const imports = `import fs, {
  readFileSync,
} from 'node:fs'
import 'node:path'
export * from 'node:net'
export { join as path } from 'node:path'
export {
  readFileSync as read,
}
`

describe('locateSyntaxError()', () => {
  for (const [name, source, line] of [
    ['in a function', `${imports}export function list() {\n  let a = ;\n}\n`, 11],
    ['in a default export', `${imports}\nexport default async () => {\n  let a = ;\n}\n`, 12],
    ['behind import.meta', 'export const url = import.meta.url\nexport const a = (;', 2],
    ['at the end of the text', 'export async function list() {\n  await 1\n', 3],
    ['that only strict code has', '\nexport const list = () => 010', 2],
    ['in a module with an await at the top level', 'await 1\nlet a = ;', undefined],
    ['in an import', "import { a b } from 'node:fs'", undefined],
  ] as const) {
    it(`finds the line of an error ${name}${line ? '' : ': none that is certain'}`, async (t) => {
      const file = join(createFolder(t, { 'news.mjs': source }), 'news.mjs')
      const { href } = pathToFileURL(file)
      const error = await import(href).then(
        () => assert.fail('the file loads'),
        (thrown: Error) => thrown,
      )
      assert.ok(error instanceof SyntaxError)
      assert.equal(await locateSyntaxError(file, error), line && `${href}:${line}`)
    })
  }

  it('finds the line in a module that is imported, also by another one', async (t) => {
    const folder = createFolder(t, {
      'app.mjs': "import * as news from './controllers/news.mjs'\nexport default news\n",
      'controllers/news.mjs': "import '../app.mjs'\nexport { list } from '../lib/list.mjs'\n",
      'lib/list.mjs': '\nexport const list = (;\n',
    })
    const href = (name: string): string => pathToFileURL(join(folder, name)).href
    const error = await import(href('app.mjs')).catch((thrown: Error) => thrown)
    assert.equal(
      await locateSyntaxError(join(folder, 'app.mjs'), error),
      `${href('lib/list.mjs')}:2`,
    )
  })

  it('finds nothing for an error of another kind, and for a file that is gone', async () => {
    assert.equal(await locateSyntaxError('/no/such.js', new TypeError('x')), undefined)
    assert.equal(await locateSyntaxError('/no/such.js', new SyntaxError('x')), undefined)
  })
})
