import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import {
  type Action,
  FrontController,
  HttpRequest,
  type HttpResponse,
  type LimitOverrides,
  post,
} from '../../lib/index.ts'
import { createFront } from '../support/front.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

function limited(limits: Partial<LimitOverrides>, run: Action): Action {
  return Object.assign((...args: Parameters<Action>) => run(...args), { limits })
}

async function send(
  actions: Record<string, Action>,
  action: string,
  body: string,
  headers: Record<string, string> = FORM,
): Promise<HttpResponse> {
  const limits = { maxBodyBytes: 20, maxFields: 3 }
  const front = createFront({ app: { other: () => {}, ...actions } }, { limits })
  const stream = Readable.from([Buffer.from(body)])
  return front.handle(
    new HttpRequest({ method: 'POST', target: `/app/${action}`, headers, body: stream }),
  )
}

const countFields: Action = (request, response) => response.json(request.form.size)

describe('the limits of an action', () => {
  it('replace that for the bytes of a form, up and down', async () => {
    const actions = {
      large: limited({ maxBodyBytes: 30 }, countFields),
      small: limited({ maxBodyBytes: 5 }, countFields),
      usual: countFields,
    }
    const table: [action: string, bytes: number, status: number][] = [
      ['large', 30, 200],
      ['large', 31, 413],
      ['small', 5, 200],
      ['small', 6, 413],
      ['usual', 20, 200],
      ['usual', 21, 413],
    ]
    for (const [action, bytes, status] of table) {
      const response = await send(actions, action, 'a='.padEnd(bytes, 'x'))
      assert.equal(response.status, status, `${action} ${bytes}`)
    }
  })

  it('keep the limits of the front controller that are undefined in them', async () => {
    const limits: object = { maxBodyBytes: undefined, maxFields: 5 }
    const actions = { save: limited(limits, countFields) }
    assert.equal((await send(actions, 'save', 'a='.padEnd(21, 'x'))).status, 413)
  })

  it('replace that for the number of fields', async () => {
    const actions = { many: limited({ maxFields: 5 }, countFields), usual: countFields }
    assert.equal((await send(actions, 'many', 'a&b&c&d&e')).body, '5')
    assert.equal((await send(actions, 'many', 'a&b&c&d&e&f&g')).status, 413)
    assert.equal((await send(actions, 'usual', 'a&b&c&d')).status, 413)
  })

  it('replace that for any other body', async () => {
    const read: Action = async (request, response) => response.text(await text(request.body))
    const actions = { large: limited({ maxBodyBytes: 30 }, read), usual: read }
    assert.equal((await send(actions, 'large', 'x'.repeat(30), {})).status, 200)
    assert.equal((await send(actions, 'large', 'x'.repeat(31), {})).status, 413)
    assert.equal((await send(actions, 'usual', 'x'.repeat(21), {})).status, 413)
  })

  it('are those of the action that a forward leads to', async () => {
    const read: Action = async (request, response) => response.text(await text(request.body))
    const forward: Action = (request) => request.forward({ action: 'usual' })
    const actions = { large: limited({ maxBodyBytes: 30 }, forward), usual: read }
    assert.equal((await send(actions, 'large', 'x'.repeat(21), {})).status, 413)
  })

  it('replace the time limit, and abort the signal', async () => {
    let signal: AbortSignal | undefined
    const hang: Action = (request) => {
      signal = request.signal
      return new Promise<undefined>(() => {})
    }
    const response = await send({ hang: limited({ timeoutMs: 15 }, hang) }, 'hang', '')
    assert.equal(response.status, 503)
    assert.equal(response.exceptions[0]?.message, 'No response within 15 milliseconds')
    assert.equal(signal?.aborted, true)
  })

  it('stay with an action that is wrapped', async () => {
    const save = post(limited({ maxBodyBytes: 30 }, countFields))
    assert.equal((await send({ save }, 'save', 'a='.padEnd(30, 'x'))).status, 200)
  })

  it('are reported with the name of the action', () => {
    const save = limited({ timeoutMs: -1, maxBytes: 1 } as object, () => {})
    const unknown = 'There is no "maxBytes" among the limits of the action "'
    const meant = ': did you mean "maxBodyBytes"[?]'
    const wrong = 'Expected "timeoutMs" of the action "admin/app/save" to be a whole number from 1'
    assert.throws(() => createFront({ app: { save } }), {
      message: new RegExp(`^${unknown}app/save"`),
    })
    const modules = { admin: { app: { save } } }
    assert.throws(() => new FrontController({ modules }), {
      name: 'TypeError',
      message: new RegExp(`^${unknown}admin/app/save"${meant}\n${wrong} to 2147483647, got "-1"$`),
    })
  })

  it('are checked at construction', () => {
    const table: [limits: unknown, name: string][] = [
      [{ maxBodyBytes: 0 }, 'RangeError'],
      [{ maxFields: 1.5 }, 'RangeError'],
      [{ timeoutMs: 2 ** 31 }, 'RangeError'],
      [{ timeoutMs: '5' }, 'RangeError'],
      [{ maxBytes: 5 }, 'TypeError'],
      [null, 'TypeError'],
      [5, 'TypeError'],
    ]
    for (const [limits, name] of table) {
      const save = Object.assign(() => {}, { limits })
      assert.throws(() => createFront({ app: { save } }), { name }, JSON.stringify(limits))
    }
  })
})
