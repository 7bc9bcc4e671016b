import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { locateFunctions } from '../../lib/inspect/function-location.ts'

const file = fileURLToPath(import.meta.url)
const lines = readFileSync(file, 'utf8').split('\n')

function declared(): void {}
const arrow = (): void => {}
const create = (value: string) => () => value

describe('locateFunctions()', () => {
  it('returns the file and the line of a function', () => {
    const located = locateFunctions([declared, arrow, declared.bind(undefined)])
    const lineOf = (value: unknown): string | undefined => {
      const location = located.get(value)
      assert.equal(location?.file, file)
      return lines[(location?.line ?? 0) - 1]
    }
    assert.match(lineOf(declared) ?? '', /^function declared\(/)
    assert.match(lineOf(arrow) ?? '', /^const arrow = /)
    assert.equal(located.size, 3)
  })

  it('returns none for a native function, and for one that another function created', () => {
    const functions = [Math.max, create('x'), new Function('return 1'), null, 42]
    assert.deepEqual([...locateFunctions(functions)], [])
  })

  it('leaves no global variable, and can be called again', () => {
    const names = Object.getOwnPropertyNames(globalThis)
    assert.equal(locateFunctions([declared]).size, 1)
    assert.equal(locateFunctions([declared]).size, 1)
    assert.deepEqual(Object.getOwnPropertyNames(globalThis), names)
  })
})
