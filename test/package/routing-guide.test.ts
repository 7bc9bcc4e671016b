import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { repositoryFile } from '../support/repository.ts'

const guide = await readFile(repositoryFile('docs/routing.md'), 'utf8')
const blocks = [...guide.matchAll(/```js (\w+)\n(.*?)```/gs)]

describe('docs/routing.md', () => {
  it('has examples', () => {
    assert.deepEqual(
      blocks.map(([, name]) => name),
      ['routes', 'urls'],
    )
  })

  for (const [, name = '', code = ''] of blocks) {
    it(`is right about ${name}`, async (t) => {
      // Beside the tests: there `portico` is the package that was built.
      const folder = await mkdtemp(repositoryFile('dist/test/routing-guide-'))
      t.after(() => rm(folder, { recursive: true }))
      const file = join(folder, 'example.js')
      await writeFile(file, code)
      const [exitCode] = await once(spawn(process.execPath, [file], { stdio: 'inherit' }), 'close')
      assert.equal(exitCode, 0)
    })
  }
})
