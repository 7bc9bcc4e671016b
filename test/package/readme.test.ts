import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { repositoryFile } from '../support/repository.ts'

// Its code is compiled and run by docs.test.ts, with that of the other pages.
describe('The README', () => {
  it('names commands that package.json has', async () => {
    const readme = await readFile(repositoryFile('README.md'), 'utf8')
    const { scripts } = JSON.parse(await readFile(repositoryFile('package.json'), 'utf8'))
    const named = [...readme.matchAll(/npm (?:run )?(start|test|build)\b/g)].map(([, name]) => name)
    assert.deepEqual([...new Set(named)].sort(), ['build', 'start', 'test'])
    for (const name of named) assert.ok(scripts[name ?? ''], name)
  })

  it('begins with two sentences and two commands', async () => {
    const readme = await readFile(repositoryFile('README.md'), 'utf8')
    const [, sentences = '', commands = ''] =
      /^# Portico\n\n(.*?)\n\n```sh\n(.*?)\n```/s.exec(readme) ?? []
    assert.equal(sentences.match(/\.(?= |\n|$)/g)?.length, 2)
    assert.deepEqual(
      commands.split('\n').map((line) => line.split('#')[0]?.trim()),
      ['npm ci && npm start', 'npm ci && npm test'],
    )
  })
})
