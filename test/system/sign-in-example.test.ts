import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { transform } from 'esbuild'
import { Browser } from '../support/browser.ts'
import { commandOf } from '../support/examples.ts'
import { createFolderInPackage } from '../support/folder.ts'
import { blocksOf } from '../support/markdown.ts'
import { repositoryFile } from '../support/repository.ts'
import { runNode } from '../support/run-node.ts'
import { startSignInExample } from '../support/sign-in-example.ts'

const blocks = blocksOf(readFileSync(repositoryFile('docs/sign-in.md'), 'utf8'))
const FILES = ['auth.js', 'app.js', 'test/provider.js', 'test/app.test.js']
const TEST = 'examples/sign-in/test/app.test.js'

describe('examples/sign-in', { concurrency: 2 }, () => {
  it('is the code of docs/sign-in.md, but for comments', async () => {
    for (const name of FILES) {
      const shown = blocks.find((block) => block.name === name)?.code ?? ''
      const code = readFileSync(repositoryFile(`examples/sign-in/${name}`), 'utf8')
      assert.equal(await withoutComments(shown), await withoutComments(code), name)
    }
  })

  it('has tests that pass with the provider for tests', async () => {
    const [, ...args] = (await commandOf(TEST)).split(' ')
    const { code, output } = await runNode(args, repositoryFile('.'))
    assert.equal(code, 0, output)
    assert.match(output, /\bpass 5\b/)
  })

  it('signs in with a real provider, keeps readers out of the module admin, and signs out', async (t) => {
    const { origin, provider } = await startSignInExample(t)
    const browser = new Browser()
    const account = await browser.open(`${origin}/account?tab=orders`)
    assert.equal(account.url.href, `${origin}/account?tab=orders`)
    const { signedInAt, ...identity } = JSON.parse(account.body)
    assert.ok(Math.abs(Date.now() - signedInAt) < 60_000, signedInAt)
    assert.deepEqual(identity, {
      provider: 'google',
      subject: 'ada',
      email: 'ada@example.org',
      emailVerified: true,
      name: 'Ada Lovelace',
      data: { role: 'admin' },
    })
    assert.equal((await browser.open(`${origin}/admin/news?id=1`)).body, 'Edit item 1')
    assert.match((await browser.open(`${origin}/elp/sign-out`, { method: 'POST' })).body, /Sign in/)

    provider.account = 'bob'
    const other = new Browser()
    assert.equal((await other.open(`${origin}/admin/news`)).status, 403)
    assert.match((await other.open(`${origin}/`)).body, /Hello Bob/)
  })

  it('offers a link on the error page of docs/sign-in.md', async (t) => {
    const files = blocks
      .filter(({ name }) => name.endsWith('.js'))
      .map(({ name, code }) => [name, code])
    const folder = createFolderInPackage(t, Object.fromEntries(files))
    const program = { file: repositoryFile('dist/server.js'), folder }
    const args = ['--app', 'app.js', '--controllers', 'controllers']
    const { origin, provider } = await startSignInExample(t, { program, args })
    provider.decision = 'deny'
    const denied = await new Browser().open(`${origin}/account`)
    assert.equal(denied.status, 403)
    assert.match(denied.body, /<a href="\/elp\/oauth\.php\?provider=google">Sign in again<\/a>/)
    const missing = await new Browser().open(`${origin}/none`)
    assert.equal(missing.status, 404)
    assert.doesNotMatch(missing.body, /<a /)
  })
})

async function withoutComments(code: string): Promise<string> {
  return (await transform(code, { minifyWhitespace: true })).code
}
