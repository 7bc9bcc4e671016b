import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { HttpRequest } from '../../lib/http/request.ts'
import { loadApplication, publicFileOf } from '../../lib/process/application.ts'
import { parseCommandLine } from '../../lib/process/command-line.ts'
import { createFolder } from '../support/folder.ts'

describe('loadApplication()', () => {
  it('lists the public files once, for the handler and for the commands', async (t) => {
    const folder = createFolder(t, { 'css/site.css': 'a {}' })
    const line = parseCommandLine(['--public', folder, '--base-path=/app'], {}, () => '')
    const application = await loadApplication(line)
    rmSync(join(folder, 'css'), { recursive: true })
    const request = new HttpRequest({ target: '/app/css/site.css' })
    assert.equal(application.files?.size, 1)
    assert.equal(publicFileOf(application, request), join(folder, 'css/site.css'))
    assert.equal((await loadApplication(line)).files?.size, 0)
    assert.equal(publicFileOf(application, new HttpRequest({ target: '/app/css' })), undefined)
  })

  it('accepts routes of the file to a module of the folder', async (t) => {
    const folder = createFolder(t, {
      'controllers/admin/report.mjs': 'export const view = (_, response) => response.text("seen")',
      'app.mjs': `const defaults = { module: 'admin', controller: 'report', action: 'view' }
        export default { routes: { report: { path: '/report/:id', defaults } } }`,
    })
    const args = ['--controllers', join(folder, 'controllers'), '--app', join(folder, 'app.mjs')]
    const { front } = await loadApplication(parseCommandLine(args, {}, () => ''))
    assert.equal((await front.handle(new HttpRequest({ target: '/report/1' }))).body, 'seen')
  })
})
