import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { kebabCase } from '../../lib/http/route.ts'

describe('kebabCase()', () => {
  it('breaks a function name before each capital letter but the first', () => {
    const table = [
      ['list', 'list'],
      ['fooBar', 'foo-bar'],
      ['FooBar', 'foo-bar'],
      ['saveAllNow', 'save-all-now'],
      ['toURL', 'to-u-r-l'],
      ['v2', 'v2'],
      ['_x', '_x'],
    ] as const
    for (const [name, expected] of table) assert.equal(kebabCase(name), expected)
  })
})
