import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkInstalled } from '../../lib/session/optional-package.ts'

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
