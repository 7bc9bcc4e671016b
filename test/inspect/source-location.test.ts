import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sourceLocations } from '../../lib/inspect/source-location.ts'

function declared(): void {}

const arrow = (): number => 1

describe('sourceLocations()', () => {
  it('finds the file and the line of a function', () => {
    for (const [place, text] of [
      [sourceLocations([declared])[0], 'function declared('],
      [sourceLocations([arrow])[0], 'const arrow ='],
    ] as const) {
      assert.equal(place?.url, import.meta.url)
      const lines = readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n')
      assert.ok(lines[place.line - 1]?.startsWith(text), text)
    }
  })

  it('finds what a bound function and a proxy stand for', () => {
    const [plain, ...others] = sourceLocations([
      declared,
      declared.bind(null).bind(null),
      new Proxy(declared, {}),
    ])
    assert.deepEqual(others, [plain, plain])
  })

  it('finds nothing for what has no file, in the order of what it was asked', () => {
    const evaluated = new Function('return 1')
    const [none, place, ...others] = sourceLocations([Math.max, arrow, evaluated, undefined, {}])
    assert.equal(place?.url, import.meta.url)
    assert.deepEqual([none, ...others], [undefined, undefined, undefined, undefined])
  })

  it('leaves no trace of its own', () => {
    const before = Reflect.ownKeys(globalThis).length
    sourceLocations([declared])
    assert.equal(Reflect.ownKeys(globalThis).length, before)
  })
})
