import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFolder } from '../support/folder.ts'
import { exchange } from '../support/http.ts'
import { logLinesOf, ServerProcess } from '../support/server-process.ts'

// Each action makes Node, or the application, warn with a value of the request.
const APP = `
import { parse } from 'node:url'
export function timeout(request, response) {
  clearTimeout(setTimeout(() => {}, Number(request.param('ms'))))
  response.text('ok')
}
export function url(request, response) {
  try {
    parse(request.param('url'))
  } catch {
    return response.text('rejected')
  }
  response.text('ok')
}
export function own(request, response) {
  const text = request.param('text')
  process.emitWarning(text, { type: text, code: text, detail: text })
  response.text('ok')
}
`

const requests = [
  '/app/timeout/ms/4111111111111111',
  '/app/url?url=http://a:CANARY-1@b:CANARY-2/CANARY-3',
  '/app/own?text=CANARY4',
  '/app/own?text=CANARY 5',
  '/app/own?text=CANARYWarning',
  '/app/own?text=CANARY_SIX',
]

describe('node server.js, when Node warns', () => {
  for (const workers of [0, 1]) {
    it(`logs each kind once, without a value of the request (--workers ${workers})`, async (t) => {
      const controllers = createFolder(t, { 'app.mjs': APP })
      const args = ['--port=0', `--workers=${workers}`, `--controllers=${controllers}`]
      const server = new ServerProcess(t, args)
      const port = await server.port()
      let isUrlRejected = false
      for (const target of [...requests, ...requests]) {
        const { status, body } = await exchange(port, { target: target.replace(' ', '%20') })
        assert.equal(status, 200)
        isUrlRejected ||= body === 'rejected'
      }
      server.child.kill('SIGTERM')
      const { stdout, stderr } = await server.ended
      assert.equal(stderr, '')
      assert.doesNotMatch(stdout, /CANARY|4111/)
      // Node 24 and later also warn of each first call of parse().
      const lines = logLinesOf(stdout).filter(
        ({ event, code }) => event === 'node' && code !== 'DEP0169',
      )
      assert.deepEqual(
        lines.map(({ level, name, code, message }) => [level, name, code, message]),
        [
          ['warn', 'TimeoutOverflowWarning', undefined, 'Node warns: TimeoutOverflowWarning'],
          // Node 26 and later reject such a URL.
          ...(isUrlRejected
            ? []
            : [
                ['warn', 'DeprecationWarning', 'DEP0170', 'Node warns: DeprecationWarning DEP0170'],
              ]),
          ['warn', 'Warning', undefined, 'Node warns: Warning'],
        ],
      )
    })
  }
})
