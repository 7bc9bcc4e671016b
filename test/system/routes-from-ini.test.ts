import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFolder } from '../support/folder.ts'
import { repositoryFile } from '../support/repository.ts'
import { runNode } from '../support/run-node.ts'

describe('portico routes-from-ini', () => {
  it('prints the routes, and the problems with their lines', async (t) => {
    const folder = createFolder(t, {
      'routes.ini': '[production]\nroutes.a.route = a\nroutes.b.type = X',
    })
    const program = repositoryFile('dist/server.js')
    const { code, output } = await runNode([program, 'routes-from-ini', `${folder}/routes.ini`])
    assert.equal(code, 1)
    assert.ok(output.includes('export const routes = {\n  "a": {\n    "path": "a"\n  }\n}\n'))
    assert.match(output, /routes\.ini:3: the route "b" has the type X/)
  })

  it('prints requirements that ignore case, as in ZF1, as regular expressions', async (t) => {
    const reqs = { name: '[a-z/"]+', id: '\\d+' }
    const lines = Object.entries(reqs).map(([name, text]) => `routes.u.reqs.${name} = '${text}'`)
    const folder = createFolder(t, {
      'routes.ini': `[production]\nroutes.u.route = "u/:name/:id"\n${lines.join('\n')}`,
    })
    const program = repositoryFile('dist/server.js')
    const { code, output } = await runNode([program, 'routes-from-ini', `${folder}/routes.ini`])
    assert.equal(code, 0)
    const { routes } = await import(`data:text/javascript,${encodeURIComponent(output)}`)
    assert.deepEqual(routes.u.requirements, { name: /[a-z/"]+/i, id: '\\d+' })
  })

  it('says that a file has no route', async (t) => {
    const folder = createFolder(t, { 'routes.xml': '<config><production/></config>' })
    const program = repositoryFile('dist/server.js')
    const { code, output } = await runNode([program, 'routes-from-ini', `${folder}/routes.xml`])
    assert.equal(code, 1)
    assert.match(output, /routes\.xml: no route\n/)
  })

  it('rejects wrong arguments, and a file that cannot be read', async () => {
    const program = repositoryFile('dist/server.js')
    for (const [args, message] of [
      [[], /Expected routes-from-ini FILE/],
      [['/nosuch/x.ini'], /"\/nosuch\/x\.ini" can't be translated: ENOENT/],
      [['package.json', 'nosection'], /There is no section "nosection"/],
    ] as const) {
      const { code, output } = await runNode([program, 'routes-from-ini', ...args])
      assert.equal(code, 2)
      assert.match(output, message)
    }
  })
})
