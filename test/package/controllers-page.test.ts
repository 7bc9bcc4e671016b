import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { repositoryFile } from '../support/repository.ts'

const page = await readFile(repositoryFile('docs/controllers.md'), 'utf8')

describe('docs/controllers.md', () => {
  const examples = [...page.matchAll(/^## ([^\n]*)|^```js\n(.*?)^```/gms)]

  it('has examples', () => {
    assert.ok(examples.filter(([, , code]) => code !== undefined).length >= 8)
  })

  let section = 'Controllers'
  for (const [, heading, code] of examples) {
    if (heading !== undefined) section = heading
    if (code === undefined) continue
    // Beside the tests: there `portico` is the package that was built.
    it(`runs what it shows under "${section}"`, async (t) => {
      const folder = await mkdtemp(repositoryFile('dist/test/controllers-page-'))
      t.after(() => rm(folder, { recursive: true }))
      const file = join(folder, 'example.js')
      await writeFile(file, code)
      await import(pathToFileURL(file).href)
    })
  }
})
