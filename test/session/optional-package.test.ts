import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkInstalled } from '../../lib/session/optional-package.ts'

describe('checkInstalled', () => {
  it('accepts an installed package', () => {
    for (const name of ['jose', 'oauth4webapi', 'undici']) checkInstalled(name, 'portico/x')
  })

  it('throws one line with the command that installs a missing one', () => {
    assert.throws(() => checkInstalled('no-such-package', 'portico/x'), {
      name: 'Error',
      message: 'portico/x needs the package "no-such-package": npm install no-such-package',
    })
  })
})
