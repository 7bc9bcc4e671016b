import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Browser } from '../support/browser.ts'
import { createFolderInPackage } from '../support/folder.ts'
import { startHostileProvider } from '../support/hostile-provider.ts'
import { ServerProcess } from '../support/server-process.ts'
import {
  assertRedirect,
  beginning,
  depart,
  goBack,
  identityOf,
  ORIGIN,
  SECRET,
} from '../support/sign-in.ts'

const APP = `
import { signIn } from 'portico/sign-in'

const { ORIGIN: origin, SECRET, PROVIDER } = process.env
const auth = signIn({ origin, secrets: [SECRET], providers: { hostile: JSON.parse(PROVIDER) } })
const who = async (request, response) =>
  response.text(JSON.stringify((await auth.identity(request)) ?? null))
export default { controllers: { elp: auth.controller, index: { who } } }
`

describe('Several processes', () => {
  it('finish what another one began, with the same secrets, and log no secret', async (t) => {
    const provider = await startHostileProvider(t)
    const app = join(createFolderInPackage(t, { 'app.mjs': APP }), 'app.mjs')
    const env = { ORIGIN, SECRET, PROVIDER: JSON.stringify(provider.options) }
    const args = ['--port', '0', '--access-log', '--app', app]
    const [first, second] = [new ServerProcess(t, args, env), new ServerProcess(t, args, env)]
    const hosts = { [ORIGIN]: await first.url() }
    const client = new Browser(hosts)
    const back = await depart(client, beginning('hostile', { continue: '/a' }))
    hosts[ORIGIN] = await second.url()
    assertRedirect(await goBack(client, back), '/a')
    hosts[ORIGIN] = await first.url()
    assert.equal((await identityOf(client))?.subject, 'subject-5f2d81')
    assert.equal((await goBack(client, back)).status, 400)
    provider.faults = { token: () => ({ error: 'x' }) }
    assert.equal((await goBack(client, await depart(client))).status, 502)

    for (const { value } of client.cookies(ORIGIN).values()) provider.secrets.add(value)
    for (const { child, ended } of [first, second]) {
      child.kill('SIGTERM')
      const { stdout, stderr } = await ended
      assert.match(stdout, /"event":"access"/)
      for (const secret of provider.secrets) assert.ok(!`${stdout}${stderr}`.includes(secret))
    }
  })
})
