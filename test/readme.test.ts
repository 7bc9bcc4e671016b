import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fetch } from 'undici'
import { parse, send } from './support/http.ts'
import { repositoryFile } from './support/repository.ts'
import { ServerProcess } from './support/server-process.ts'

const readme = await readFile(repositoryFile('README.md'), 'utf8')

describe('The README', () => {
  it('names commands that package.json has', async () => {
    const { scripts } = JSON.parse(await readFile(repositoryFile('package.json'), 'utf8'))
    const named = [...readme.matchAll(/npm (?:run )?(start|test|build)\b/g)].map(([, name]) => name)
    assert.deepEqual([...new Set(named)].sort(), ['build', 'start', 'test'])
    for (const name of named) assert.ok(scripts[name ?? ''], name)
  })

  it('shows what the server really answers to a sign-in that went astray', async (t) => {
    const [, target = '', shown = ''] =
      /curl -i 'http:\/\/127\.0\.0\.1:3000([^']*)'\n(.*?)\n```/s.exec(readme) ?? []
    const server = new ServerProcess(t, ['--port', '0'])
    const { port } = new URL(await server.url())
    const request = `GET ${target} HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nConnection: close\r\n\r\n`
    const { rawHeaders, body } = parse(await send(Number(port), request))
    const lines = rawHeaders.split('\r\n').filter((line) => !/^(Date|Connection):/.test(line))
    assert.equal(withoutIds([...lines, '', body].join('\n')), withoutIds(shown))
  })

  it('has a first controller that does what it says', async (t) => {
    const folder = await temporaryFolder(t)
    const controllers = join(folder, 'controllers')
    await mkdir(controllers)
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(controllers, 'hello.js'), block('controllers/hello.js'))
    const [, path = '', shown] =
      /curl 'http:\/\/127\.0\.0\.1:3000(.*)'\n(.*)\n```/.exec(readme) ?? []
    const server = new ServerProcess(t, ['--port', '0', '--controllers', controllers])
    const response = await fetch(`${await server.url()}${path}`)
    assert.equal(await response.text(), shown)
  })

  it('has a server of one own that listens', async (t) => {
    const code = block('embed').replace(
      /listen\(3000.*\)/,
      "listen(0, '127.0.0.1', () => process.exit())",
    )
    assert.equal(await run(t, code), 0)
  })

  it('has a test that passes', async (t) => {
    assert.equal(await run(t, block('test')), 0)
  })
})

// Each answer has a UUID of its own; all are equally long.
function withoutIds(text: string): string {
  return text.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<UUID>')
}

function block(name: string): string {
  const [, code] = new RegExp(`\`\`\`js ${name}\\n(.*?)\`\`\``, 's').exec(readme) ?? []
  assert.ok(code, `a block "${name}"`)
  return code
}

// Beside the tests: there `portico` is the package that was built.
async function run(t: TestContext, code: string): Promise<number> {
  const folder = await mkdtemp(repositoryFile('dist/test/readme-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'example.js')
  await writeFile(file, code)
  const child = spawn(process.execPath, [file], { stdio: 'inherit' })
  const [exitCode] = await once(child, 'close')
  return exitCode
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}
