import assert from 'node:assert/strict'
import { createServer, IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import {
  createRequestListener,
  FrontController,
  HttpRequest,
  incomingMessageOf,
} from '../../lib/index.ts'
import { exchange, listening } from '../support/http.ts'

describe('incomingMessageOf()', () => {
  it('gives the message of a request, a forwarded one and that of the error action too', async (t) => {
    const seen: unknown[] = []
    const see = (request: HttpRequest): void => {
      const message = incomingMessageOf(request)
      seen.push(message instanceof IncomingMessage && message.rawHeaders.includes('X-Raw'))
    }
    const app = {
      first(request: HttpRequest) {
        see(request)
        return request.forward({ action: 'second' })
      },
      second(request: HttpRequest) {
        see(request)
        throw new Error('no')
      },
    }
    const front = new FrontController({
      controllers: new Map<string, object>([
        ['app', app],
        ['error', { error: see }],
      ]),
    })
    const port = await listening(t, createServer(createRequestListener(front)))
    await exchange(port, { target: '/app/first', headers: [['X-Raw', 'yes']] })
    assert.deepEqual(seen, [true, true, true])
  })

  it('gives nothing where no message came over the wire', () => {
    assert.equal(incomingMessageOf(new HttpRequest({ target: '/' })), undefined)
  })

  it('does not show the message to whoever prints the request', async (t) => {
    const front = new FrontController({
      controllers: new Map([
        [
          'app',
          {
            run(request: HttpRequest, response: { text(text: string): void }) {
              response.text(inspect(request, { depth: 9, showHidden: true }))
            },
          },
        ],
      ]),
    })
    const port = await listening(t, createServer(createRequestListener(front)))
    const target = '/app/run/key/secret-value'
    const headers = [['Cookie', 'secret-value']] as const
    const { status, body } = await exchange(port, { target, headers })
    assert.equal(status, 200)
    assert.doesNotMatch(body, /secret-value/)
  })
})

describe('A body that was read before the request came', () => {
  it('is an error that says so, for a form and for what an action reads', async (t) => {
    const told: string[] = []
    const front = new FrontController({
      controllers: new Map([['app', { run: (request: HttpRequest) => void request.body }]]),
      onReport: ({ message }) => void told.push(message),
    })
    const listener = createRequestListener(front)
    const server = createServer((message, out) => {
      message.on('end', () => listener(message, out)).resume()
    })
    const port = await listening(t, server)
    for (const type of ['application/x-www-form-urlencoded', 'application/json']) {
      const { status } = await exchange(port, {
        method: 'POST',
        target: '/app/run',
        headers: [['Content-Type', type]],
        body: 'a=1',
      })
      assert.equal(status, 500)
    }
    const expected =
      'The body was read before the request arrived here: mount Portico before any body parser'
    assert.deepEqual(told, [expected, expected])
  })
})
