import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { codeSpansOf, orderedItemsOf, sectionOf, tableOf } from '../support/markdown.ts'
import { repositoryFile } from '../support/repository.ts'
import {
  codeOf,
  declaresInInterface,
  defines,
  sourceFiles as files,
  importsOf,
  lineCountOf,
  roomOf,
  specifiersOf,
} from '../support/source.ts'

// The rooms of lib/ and the files outside of them, with the rooms that each may import. Types count as imports.
const mayImport: Readonly<Record<string, readonly string[]>> = {
  http: [],
  routing: ['http'],
  scrubbing: ['http'],
  reporting: ['scrubbing', 'http'],
  server: ['http'],
  controllers: ['reporting', 'scrubbing', 'http'],
  dispatch: ['controllers', 'routing', 'reporting', 'scrubbing', 'http'],
  inspect: ['dispatch', 'controllers', 'routing', 'reporting', 'scrubbing', 'http'],
  testing: ['dispatch', 'server', 'controllers', 'http'],
  observe: ['server', 'reporting', 'scrubbing', 'http'],
  session: ['http'],
  'sign-in': ['session', 'dispatch', 'controllers', 'reporting', 'scrubbing', 'http'],
  process: [
    'observe',
    'dispatch',
    'server',
    'controllers',
    'routing',
    'reporting',
    'scrubbing',
    'http',
  ],
  commands: ['process', 'inspect', 'server', 'reporting', 'scrubbing'],
  'lib/index.ts': ['dispatch', 'server', 'controllers', 'routing', 'reporting', 'http'],
  'lib/observe.ts': ['process', 'observe'],
  'lib/session.ts': ['session'],
  'lib/sign-in.ts': ['sign-in', 'controllers', 'reporting'],
  'lib/testing.ts': ['testing', 'server', 'http'],
  'server.ts': ['commands', 'process'],
}

const FOREIGN = [
  'lib/testing.ts undici',
  'session jose',
  'sign-in jose',
  'sign-in oauth4webapi',
  'sign-in undici',
]

const MAX_FILES = 24
const MAX_LINES = 250

describe('The rooms of lib/', () => {
  it('contain every file except the entry points', () => {
    const others = files.filter((file) => mayImport[roomOf(file)] === undefined)
    assert.deepEqual(others, [])
  })

  it('import only the rooms that the table allows', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((imported) => !isAllowed(roomOf(file), roomOf(imported)))
        .map((imported) => `${file} imports ${imported}`),
    )
    assert.deepEqual(wrong, [])
  })

  it('have at most 24 files each', () => {
    const rooms = new Map<string, number>()
    for (const file of files) rooms.set(roomOf(file), (rooms.get(roomOf(file)) ?? 0) + 1)
    assert.deepEqual(
      [...rooms].filter(([, count]) => count > MAX_FILES),
      [],
    )
  })

  it('have no file with more than 250 lines', () => {
    const lengths = files.map((file): [string, number] => [file, lineCountOf(file)])
    assert.deepEqual(
      lengths.filter(([, lines]) => lines > MAX_LINES),
      [],
    )
  })

  it('have no import cycle between files', () => {
    assert.deepEqual(cycleIn(new Map(files.map((file) => [file, importsOf(file)]))), [])
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ])
    assert.deepEqual(cycleIn(circle), ['b', 'c', 'b'])
  })

  it('import no package at run time, except those that a subpath of the package needs', () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(repositoryFile('package.json'), 'utf8'),
    )
    assert.equal(dependencies, undefined)
    const optional = { optional: true }
    assert.deepEqual(peerDependencies, { jose: '>=6.1', oauth4webapi: '>=3', undici: '>=7' })
    assert.deepEqual(peerDependenciesMeta, {
      jose: optional,
      oauth4webapi: optional,
      undici: optional,
    })
    const foreign = files.flatMap((file) =>
      specifiersOf(file)
        .filter((specifier) => !/^(?:node:|\.)/.test(specifier))
        .map((specifier) => `${roomOf(file)} ${specifier}`),
    )
    assert.deepEqual(new Set(foreign), new Set(FOREIGN))
  })

  it('read process only in process/, commands/ and server.ts, and see a socket only in server/', () => {
    const using = (pattern: RegExp): string[] => files.filter((file) => pattern.test(codeOf(file)))
    const reading = using(/(?<!\.)\bprocess\.(?!(?:nextTick|hrtime|getBuiltinModule)\b)/)
    assert.deepEqual(
      reading.filter((file) => !['process', 'commands', 'server.ts'].includes(roomOf(file))),
      [],
    )
    const seeing = using(/\bSocket\b/).filter((file) => roomOf(file) !== 'server')
    assert.deepEqual(seeing, [])
  })
})

const PAGE = 'docs/architecture.md'
const page = readFileSync(repositoryFile(PAGE), 'utf8')

describe(PAGE, () => {
  it('has a table of the rooms with the imports of this test', () => {
    const rows = tableOf(page, 'room', 'one sentence', 'may import')
    const nameOf = (cell: string): string => cell.replace(/\/$/, '')
    const table = rows.map(([room = '', , imports = '']) => [
      codeSpansOf(room).map(nameOf).join(),
      codeSpansOf(imports).map(nameOf).sort(),
    ])
    const expected = Object.entries(mayImport).map(([room, imports]) => [room, [...imports].sort()])
    assert.deepEqual(Object.fromEntries(table), Object.fromEntries(expected))
    assert.equal(rows.length, expected.length)
    for (const [room, sentence = ''] of rows) assert.match(sentence, /\w/, room)
  })

  for (const heading of [
    'The path of a message',
    'The path of a request',
    'The path of an error',
  ]) {
    it(`lists existing files and functions, each connected to one before, in "${heading}"`, () => {
      const items = orderedItemsOf(sectionOf(page, heading))
      assert.ok(items.length > 1, `${items.length} items`)
      assert.deepEqual(problemsOf(items), [])
    })
  }
})

describe('The check of a path', () => {
  const [handler, front, loop, steps] = [
    '`lib/server/handler.ts`: the server calls `handle()`',
    '`lib/dispatch/front-controller.ts`: `handle()` starts the loop',
    '`lib/dispatch/loop.ts`: `runLoop()` is the loop',
    '`lib/dispatch/steps.ts`: `run()` runs its steps',
  ]

  it('accepts imports in both directions, and methods of an interface', () => {
    assert.deepEqual(problemsOf([handler, front, steps]), [])
    assert.deepEqual(problemsOf([steps, front]), [])
  })

  it('accepts a second item for the file of the loop only', () => {
    assert.deepEqual(problemsOf([loop, steps, loop]), [])
    assert.deepEqual(problemsOf([steps, loop, steps]), ['lib/dispatch/steps.ts is listed twice'])
  })

  it('finds a missing file, a missing function and a file without a connection', () => {
    const missing = '`lib/dispatch/no-such.ts`: `run()`'
    const other = '`lib/http/html.ts`: `html()` and `noSuch()`'
    assert.deepEqual(problemsOf([steps, missing, other, 'no file', '`lib/http/html.ts`']), [
      'lib/dispatch/no-such.ts does not exist',
      'lib/http/html.ts does not define noSuch()',
      'lib/http/html.ts has no connection to a file before it',
      'no file in: no file',
      'no function in: `lib/http/html.ts`',
    ])
  })
})

function isAllowed(from: string, to: string): boolean {
  return from === to || mayImport[from]?.includes(to) === true
}

/** Finds a cycle of a graph, from a node back to itself. Returns an empty list if there is none. */
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

/**
 * Checks a path through the files, a file with its functions for each item.
 *
 * A file must import, or be imported by, a file before it, or implement a method of an interface of a file
 * before it. Only the file of the loop may occur twice.
 */
function problemsOf(items: readonly (string | undefined)[]): string[] {
  const problems: string[] = []
  const before: string[] = []
  for (const item of items) {
    const spans = codeSpansOf(item ?? '')
    const [file] = spans.filter((span) => /^(?:lib\/[\w/-]+|server)\.ts$/.test(span))
    // The last part of `HttpRequest.form()`.
    const names = spans.flatMap((span) => /^(?:\w+\.)*(#?\w+)\(\)$/.exec(span)?.[1] ?? [])
    if (file === undefined || names[0] === undefined) {
      problems.push(`no ${file === undefined ? 'file' : 'function'} in: ${item}`)
    } else if (!files.includes(file)) {
      problems.push(`${file} does not exist`)
    } else {
      problems.push(...problemsOfFile(file, names, before))
      before.push(file)
    }
  }
  return problems
}

function problemsOfFile(
  file: string,
  names: readonly string[],
  before: readonly string[],
): readonly string[] {
  const code = codeOf(file)
  const isImplemented = (earlier: string): boolean =>
    names.some((name) => declaresInInterface(codeOf(earlier), name))
  const isConnected = before.some(
    (earlier) =>
      earlier === file ||
      importsOf(earlier).includes(file) ||
      importsOf(file).includes(earlier) ||
      isImplemented(earlier),
  )
  const isTwice = before.includes(file) && file !== 'lib/dispatch/loop.ts'
  return [
    ...(isTwice ? [`${file} is listed twice`] : []),
    ...names
      .filter((name) => !defines(code, name))
      .map((name) => `${file} does not define ${name}()`),
    ...(isConnected || before.length === 0
      ? []
      : [`${file} has no connection to a file before it`]),
  ]
}
