import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { fetch, type RequestInit } from 'undici'
import { repositoryFile } from '../support/repository.ts'

const folder = 'examples/embedding'

// What each example is asked, and what it answers.
const conversations: Record<
  string,
  [path: string, expected: string, body?: RequestInit['body']][]
> = {
  'http.js': [
    ['/clock/ticks/count/2', '200 data: 1\n\ndata: 2\n\n'],
    ['/clock/shout', '200 GRÜN', 'grün'],
    ['/clock/wire', '200 {"httpVersion":"1.1"}'],
  ],
  'several.js': [
    ['/app', '200 This is the site'],
    ['/admin?a=1', '200 This is the back office'],
    ['/administration', '404'],
    ['/application', '404'],
  ],
  'express.js': [
    ['/app/news/list/page/2', '200 {"page":"2"}'],
    ['/app/news/save', '200 Saved grün', new URLSearchParams({ title: 'grün' })],
    ['/app/old', '200 Express has grün', new URLSearchParams({ title: 'grün' })],
    ['/application/news/list', '404'],
  ],
  'polka.js': [
    ['/app/news/list/page/2', '200 {"page":"2"}'],
    ['/app/old', '200 Polka has it'],
    ['/application/news/list', '404'],
  ],
  'fastify.js': [
    ['/app/news/list/page/2', '200 {"page":"2"}'],
    ['/app/old', '200 {"fastifyHas":"grün"}', 'grün'],
    ['/application/news/list', '404'],
  ],
}

describe(folder, () => {
  it('has a conversation for each of its files', () => {
    assert.deepEqual(readdirSync(repositoryFile(folder)).sort(), Object.keys(conversations).sort())
  })

  for (const [file, questions] of Object.entries(conversations)) {
    it(`runs ${file}, by the command that it begins with`, async (t) => {
      const [first = ''] = readFileSync(repositoryFile(`${folder}/${file}`), 'utf8').split('\n')
      assert.equal(first, `// node ${folder}/${file}`)
      const url = await started(t, `${folder}/${file}`)
      for (const [path, expected, body] of questions) {
        const init: RequestInit = body === undefined ? {} : { method: 'POST', body }
        const response = await fetch(new URL(path, url), { ...init, keepalive: false })
        const text = await response.text()
        assert.equal(response.ok ? `${response.status} ${text}` : `${response.status}`, expected)
      }
    })
  }
})

// Where it says that it listens.
async function started(t: TestContext, file: string): Promise<string> {
  const child = spawn(process.execPath, [file], {
    cwd: repositoryFile('.'),
    env: { PATH: process.env.PATH, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [line] = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data'),
    once(child, 'exit').then(([code]) => assert.fail(`${file} has ended with ${code}`)),
  ])
  return line.trim()
}
