import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkInstalled, once } from '../../lib/session/optional-package.ts'

describe('once', () => {
  it('loads a package once, and again after a failure', async () => {
    let calls = 0
    const load = once(async () => {
      calls++
      if (calls === 1) throw new Error('EMFILE')
      return calls
    })
    const [first, second] = await Promise.allSettled([load(), load()])
    assert.deepEqual([first.status, second.status], ['rejected', 'rejected'])
    assert.deepEqual(await Promise.all([load(), load()]), [2, 2])
    assert.equal(await load(), 2)
  })
})

describe('checkInstalled', () => {
  it('accepts installed packages', () => {
    checkInstalled(['jose', 'oauth4webapi', 'undici'], 'portico/x')
  })

  it('throws one line with the command that installs the missing ones', () => {
    assert.throws(() => checkInstalled(['jose', 'no-such-a', 'no-such-b'], 'portico/x'), {
      name: 'Error',
      message: 'portico/x needs "no-such-a", "no-such-b": npm install no-such-a no-such-b',
    })
  })
})
