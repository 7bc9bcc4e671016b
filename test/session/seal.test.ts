import assert from 'node:assert/strict'
import { hkdfSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { decodeProtectedHeader, EncryptJWT, jwtDecrypt } from 'jose'
import { createSeal } from '../../lib/session/seal.ts'

const SECRET = 'a secret of thirty-two characters, or more'
const keyFor = (purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', SECRET, '', purpose, 32))

describe('createSeal', () => {
  it('seals by A256GCM with a key that HKDF derives for the purpose', async () => {
    const text = await createSeal([SECRET], 'a purpose').seal({ a: 1 }, 60_000)
    assert.deepEqual(decodeProtectedHeader(text), { alg: 'dir', enc: 'A256GCM' })
    const { payload } = await jwtDecrypt(text, keyFor('a purpose'))
    assert.deepEqual(payload.data, { a: 1 })
    assert.ok(Math.abs(Number(payload.exp) - Date.now() / 1_000 - 60) < 30)
    await assert.rejects(jwtDecrypt(text, keyFor('another')))
  })

  it('opens no value of another purpose, without an end, or without data', async () => {
    const seal = createSeal([SECRET], 'a purpose')
    assert.equal(await seal.open(await createSeal([SECRET], 'b').seal('x', 60_000)), undefined)
    const sealed = (payload: object): Promise<string> =>
      new EncryptJWT({ ...payload })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(keyFor('a purpose'))
    const exp = Date.now() / 1_000 + 60
    assert.equal(await seal.open(await sealed({ data: 'x', exp })), 'x')
    for (const payload of [{ data: 'x' }, { exp }, { data: 'x', exp: exp - 61 }]) {
      assert.equal(await seal.open(await sealed(payload)), undefined)
    }
  })
})
