import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import {
  type Action,
  type BeforeMiddleware,
  type Controller,
  createRequestListener,
  type Plugin,
} from '../../lib/index.ts'
import { createFront } from './front.ts'
import { listening } from './http.ts'
import { keepAliveBytesOf, sendInPieces, withClose } from './wire.ts'

const current = new AsyncLocalStorage<string>()

/** Enters the store of a user, for the rest of the request. */
export function enterStoreOf(user: string | string[] | undefined): void {
  if (user) current.enterWith(String(user))
}

/**
 * Asserts that no request begins in the store that another one of its connection has entered.
 *
 * Call it once in a test file, and let nothing else in it set plugins, hooks or `before`: the first of them isolates all requests of the
 * process.
 */
export async function assertStoresAreApart(
  t: TestContext,
  entering: { plugins?: Plugin[]; hooks?: Controller; before?: BeforeMiddleware[] },
): Promise<void> {
  const { plugins = [], hooks = {}, before } = entering
  const seen: (string | undefined)[] = []
  const run: Action = (_, response) => {
    seen.push(current.getStore())
    return response.text('ok')
  }
  const front = createFront({ app: { ...hooks, run } }, { plugins })
  const server = createServer(createRequestListener(front, before && { before }))
  const port = await listening(t, server)
  const requests = ['ada', '', '', 'bob', ''].map((user) =>
    keepAliveBytesOf({ target: '/app/run', headers: [['X-User', user]] }),
  )
  const [one = '', ...others] = requests
  const last = withClose(others.pop() ?? '')
  // The first one alone, the others pipelined.
  await sendInPieces(port, [one, others.join('') + last])
  assert.deepEqual(seen, ['ada', undefined, undefined, 'bob', undefined])
}
