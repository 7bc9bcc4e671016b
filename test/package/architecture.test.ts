import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, it } from 'node:test'
import { repositoryFile } from '../support/repository.ts'

// Each room of lib/, and each door, with the rooms that it may import. Types count as imports.
const mayImport: Readonly<Record<string, readonly string[]>> = {
  http: [],
  routing: ['http'],
  reporting: ['http'],
  server: ['http'],
  controllers: ['reporting', 'http'],
  dispatch: ['controllers', 'routing', 'reporting', 'http'],
  inspect: ['dispatch', 'controllers', 'routing', 'reporting', 'http'],
  testing: ['dispatch', 'server', 'controllers', 'http'],
  process: ['inspect', 'dispatch', 'server', 'controllers', 'routing', 'reporting', 'http'],
  'lib/index.ts': ['dispatch', 'server', 'controllers', 'routing', 'reporting', 'http'],
  'lib/testing.ts': ['testing', 'server', 'http'],
  'server.ts': ['process', 'inspect', 'dispatch', 'server', 'controllers'],
}

const files = [
  'server.ts',
  ...readdirSync(repositoryFile('lib'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `lib/${name}`),
].sort()

describe('The rooms of lib/', () => {
  it('hold every file but the doors', () => {
    const strays = files.filter((file) => mayImport[roomOf(file)] === undefined)
    assert.deepEqual(strays, [])
  })

  it('import only the rooms that the table allows', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((imported) => !isAllowed(roomOf(file), roomOf(imported)))
        .map((imported) => `${file} imports ${imported}`),
    )
    assert.deepEqual(wrong, [])
  })

  it('have no cycle between files', () => {
    assert.deepEqual(cycleIn(new Map(files.map((file) => [file, importsOf(file)]))), [])
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ])
    assert.deepEqual(cycleIn(circle), ['b', 'c', 'b'])
  })

  it('depend on nothing at run time, but for undici in the room for tests', () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(repositoryFile('package.json'), 'utf8'),
    )
    assert.equal(dependencies, undefined)
    assert.deepEqual(peerDependencies, { undici: '>=7' })
    assert.deepEqual(peerDependenciesMeta, { undici: { optional: true } })
    const foreign = files.flatMap((file) =>
      specifiersOf(file)
        .filter((specifier) => !/^(?:node:|\.)/.test(specifier))
        .map((specifier) => [file, specifier]),
    )
    assert.deepEqual(foreign, [['lib/testing.ts', 'undici']])
  })

  it('read process only in process/ and in server.ts, and see a socket only in server/', () => {
    const using = (pattern: RegExp): string[] => files.filter((file) => pattern.test(codeOf(file)))
    const reading = using(/(?<!\.)\bprocess\.(?!nextTick\b)/)
    assert.deepEqual(
      reading.filter((file) => !['process', 'server.ts'].includes(roomOf(file))),
      [],
    )
    const seeing = using(/\bSocket\b/).filter((file) => roomOf(file) !== 'server')
    assert.deepEqual(seeing, [])
  })
})

/** The room of a file; of a door, the door itself. */
function roomOf(file: string): string {
  return /^lib\/([^/]+)\//.exec(file)?.[1] ?? file
}

function isAllowed(from: string, to: string): boolean {
  return from === to || mayImport[from]?.includes(to) === true
}

/** The files that a file imports, types included. */
function importsOf(file: string): string[] {
  return specifiersOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(file), specifier))
}

function specifiersOf(file: string): string[] {
  const statements = codeOf(file).matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g)
  return Array.from(statements, ([, specifier = '']) => specifier)
}

/** The text of a file without its comments. */
function codeOf(file: string): string {
  return readFileSync(repositoryFile(file), 'utf8').replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, '')
}

/** A cycle of a graph, from a node back to itself; empty if there is none. */
function cycleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>()
  const path: string[] = []
  const visit = (node: string): readonly string[] => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return []
    path.push(node)
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next)
      if (cycle.length > 0) return cycle
    }
    path.pop()
    done.add(node)
    return []
  }
  for (const node of graph.keys()) {
    const cycle = visit(node)
    if (cycle.length > 0) return cycle
  }
  return []
}
