import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fetch } from 'undici'
import { createFolder } from '../support/folder.ts'
import { ServerProcess } from '../support/server-process.ts'

describe('node server.js --public', () => {
  it('sends the files of a folder in front of the actions', async (t) => {
    const folder = createFolder(t, {
      'package.json': '{"type":"module"}',
      'app.js': `export default { headers: { 'X-App': '1', 'Cache-Control': 'no-store' }, basePath: '/app' }`,
      'public/css/site.css': 'a {}',
    })
    const args = ['--port=0', '--app', join(folder, 'app.js'), '--public', join(folder, 'public')]
    const server = new ServerProcess(t, [...args, '--public-cache-control', 'max-age=60'])
    const url = await server.url()
    const response = await fetch(`${url}/app/css/site.css`)
    assert.deepEqual([response.status, await response.text()], [200, 'a {}'])
    assert.equal(response.headers.get('cache-control'), 'max-age=60')
    assert.equal(response.headers.get('x-app'), '1')
    assert.equal((await fetch(`${url}/app/css/none.css`)).status, 404)
    assert.equal((await fetch(`${url}/app/`)).status, 200)
  })

  it('reports a folder that cannot be read, and exits with 2', async (t) => {
    for (const command of ['--check', '--port=0']) {
      const { code, stderr } = await new ServerProcess(t, [command, '--public=/no/such']).ended
      const problem = `The folder of public files "/no/such" can't be read: ENOENT`
      assert.deepEqual([code, stderr], [2, `portico: ${problem}\n`])
    }
  })
})
