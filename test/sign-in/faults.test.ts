import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SignInError } from '../../lib/reporting/sign-in-hint.ts'
import { during } from '../../lib/sign-in/faults.ts'

describe('during()', () => {
  it('shows the code of a package that cannot be loaded, and no other unknown code', async () => {
    const step = { provider: 'google', step: 'discovery' } as const
    for (const [code, fault] of [
      ['EMFILE', 'EMFILE'],
      ['ERR_MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'],
      ['canary', 'invalid response'],
    ] as const) {
      const failing = during(step, () => Promise.reject(Object.assign(new Error('x'), { code })))
      await assert.rejects(failing, (error) => {
        assert.ok(error instanceof SignInError)
        assert.deepEqual([error.status, error.signIn], [502, { ...step, fault }])
        return true
      })
    }
  })
})
