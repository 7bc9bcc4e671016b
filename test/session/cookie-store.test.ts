import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpResponse } from '../../lib/index.ts'
import { CookieStore } from '../../lib/session/cookie-store.ts'
import { deferred } from '../support/deferred.ts'

const site = { origin: 'http://localhost', isSecure: false }

/** Writes values at once, whose seals end in the reverse order. Returns the cookies of the response. */
async function writeAtOnce(
  values: readonly string[],
  then: (store: CookieStore<string>, response: HttpResponse) => void = () => {},
): Promise<string> {
  const ends = values.map(() => deferred())
  const seal = {
    async seal(value: unknown): Promise<string> {
      await ends[values.indexOf(String(value))]?.promise
      return String(value)
    },
    open: async (text: string): Promise<unknown> => text,
  }
  const store = new CookieStore<string>({ site, name: 'abc', seal, ttlMs: 1_000 })
  const response = new HttpResponse()
  const writes = values.map((value) => store.write(response, value).catch(() => {}))
  then(store, response)
  for (const end of ends.toReversed()) {
    end.resolve()
    await new Promise(setImmediate)
  }
  await Promise.all(writes)
  return String(response.headers.get('Set-Cookie'))
}

describe('CookieStore', () => {
  it('sets the cookie of the last write, also if that is sealed first', async () => {
    assert.match(await writeAtOnce(['one', 'two', 'three']), /^abc=three; /)
  })

  it('sets the cookie of an earlier write if the last one is too long', async () => {
    assert.match(await writeAtOnce(['one', 'x'.repeat(5_000)]), /^abc=one; /)
    assert.match(await writeAtOnce(['one', 'x'.repeat(4_094)]), /^abc=one; /)
  })

  it('clears a cookie, also while its value is sealed', async () => {
    const cookie = await writeAtOnce(['one'], (store, response) => store.clear(response))
    assert.match(cookie, /^abc=; .*Max-Age=0/)
  })
})
