import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Action, HttpRequest, type Logger, type Plugin } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'

async function warningsOf(
  list: Action,
  { requests = 1, development = true, plugins = [] as Plugin[] } = {},
): Promise<string[]> {
  const warnings: string[] = []
  const warn = (fields: { event?: string }, message: string): void => {
    if (fields.event === 'warning') warnings.push(message)
  }
  const logger: Logger = { info() {}, warn, error() {} }
  const edit: Action = (_, response) => response.text('edited')
  const front = createFront({ news: { list, edit } }, { development, logger, plugins })
  for (let i = 0; i < requests; i++) await front.handle(new HttpRequest({ target: '/news/list' }))
  return warnings
}

const render = async (): Promise<string> => {
  await turn()
  return 'page'
}

describe('emptyResponseCheck()', () => {
  it('warns once about an action that ends without a response', async () => {
    const forgetful: Action[] = [
      () => {},
      (_, response) => void setImmediate(() => response.text('late')),
      (_, response) => void render().then((page) => response.html(page)),
      async (_, response) => void render().then((page) => response.html(page)),
    ]
    for (const list of forgetful) {
      assert.deepEqual(await warningsOf(list, { requests: 3 }), [
        'The action news/list ended without a response: is an "await" missing?',
      ])
      assert.deepEqual(await warningsOf(list, { development: false }), [])
    }
  })

  it('does not warn about an action that responds, forwards or fails', async () => {
    const fine: Action[] = [
      async (_, response) => response.html(await render()),
      (_, response) => {
        void render()
        response.text('at once')
      },
      (request) => {
        void render()
        return request.forward({ action: 'edit' })
      },
      async (_, response) => {
        await render()
        response.status = 204
      },
      async () => {
        await render()
        throw new Error('fails')
      },
      () => {
        void render()
        throw new Error('fails')
      },
    ]
    for (const list of fine) assert.deepEqual(await warningsOf(list), [], String(list))
  })

  it('does not warn about an action whose response a plugin fills in', async () => {
    const view: Plugin = { postDispatch: (_, response) => void response.html('page') }
    assert.deepEqual(await warningsOf(() => {}, { plugins: [view] }), [])
  })
})
