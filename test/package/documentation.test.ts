import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, it } from 'node:test'
import { repositoryFile } from '../support/repository.ts'

/** A declaration as `tsc` writes it: the names that it extends, and its members without a docstring. */
interface Declared {
  readonly isDocumented: boolean
  readonly parents: readonly string[]
  readonly bare: readonly string[]
  readonly body: string
}

const DECLARATION =
  /^(\/\*\*(?:[^*]|\*(?!\/))*\*\/\n)?export (?:declare )?(?:abstract )?(class|interface|type|function|const|let) (\w+)([^\n]*)/gm

/** The entries of the package: the file in lib/, and the page of the reference. */
const ENTRIES = {
  index: 'portico',
  observe: 'portico/observe',
  session: 'portico/session',
  'sign-in': 'portico/sign-in',
  testing: 'portico/testing',
}

describe('The documentation', () => {
  const names = exported('index')

  it('is checked by a test that finds undocumented names', () => {
    assert.ok(names.length > 50, `${names.length} names`)
    assert.deepEqual(
      undocumented(declarationsOfText('/** A. */\nexport interface A {\n    b: string;\n}\n'), 'A'),
      ['A.b'],
    )
    assert.deepEqual(
      undocumented(declarationsOfText('export declare function a(): void;\n'), 'a'),
      ['a'],
    )
    const whole =
      '/** A. */\nexport declare class A {\n    #private;\n    /** B. */\n    get b(): string;\n    set b(b: string);\n}\n'
    assert.deepEqual(undocumented(declarationsOfText(whole), 'A'), [])
  })

  it('has a docstring for every export and every public member', () => {
    const missing = Object.keys(ENTRIES)
      .flatMap(exported)
      .flatMap(([file, name]) => undocumented(declarationsIn(`dist/lib/${file}.d.ts`), name))
    assert.deepEqual(missing, [])
  })

  for (const [entry, page] of Object.entries(ENTRIES)) {
    it(`has every export in docs/reference/${page}.md: \`npm run docs\` writes it`, () => {
      const reference = readFileSync(repositoryFile(`docs/reference/${page}.md`), 'utf8')
      const missing = exported(entry).filter(
        ([, name]) => !new RegExp(`^### ${name}\\b`, 'm').test(reference),
      )
      assert.deepEqual(missing, [])
    })
  }
})

/** Returns the exports of an entry of the package, with the files in lib/ that declare them. */
function exported(entry: string): [file: string, name: string][] {
  const text = readFileSync(repositoryFile(`lib/${entry}.ts`), 'utf8')
  const own = [...text.matchAll(/^export (?:class|function|interface|type) (\w+)/gm)].map(
    ([, name = '']): [string, string] => [entry, name],
  )
  const others = [
    ...text.matchAll(/export (?:type )?\{([^}]*)\} from '\.\/([\w/-]+)\.ts'/g),
  ].flatMap(([, list = '', file = '']) =>
    list
      .split(',')
      .map((name) => name.replace('type ', '').trim())
      .filter((name) => name !== '')
      .map((name): [string, string] => [file, name]),
  )
  return [...own, ...others]
}

/** A file of declarations. */
interface DeclarationFile {
  readonly path: string
  readonly text: string
}

function declarationsIn(path: string): DeclarationFile {
  return { path, text: readFileSync(repositoryFile(path), 'utf8') }
}

function declarationsOfText(text: string): DeclarationFile {
  return { path: '', text }
}

function undocumented(file: DeclarationFile, name: string): string[] {
  const declared = declarationsOf(file).get(name)
  if (declared === undefined) return [`${name} (not found)`]
  const parents = declared.parents.map((parent) => [fileOf(file, parent), parent] as const)
  const inherited = parents.flatMap(([file, parent]) => undocumented(file, parent))
  // The parent documents a member that a child narrows.
  const bodies = parents.map(([file, parent]) => declarationsOf(file).get(parent)?.body ?? '')
  const own = declared.bare.filter(
    (member) => !bodies.some((body) => body.includes(` ${member}: `)),
  )
  const bare = own.map((member) => `${name}.${member}`)
  return [...(declared.isDocumented ? [] : [name]), ...bare, ...inherited]
}

function declarationsOf({ text }: DeclarationFile): Map<string, Declared> {
  const found = new Map<string, Declared>()
  for (const match of text.matchAll(DECLARATION)) {
    const [whole, comment, kind = '', name = '', head = ''] = match
    const hasMembers = kind === 'class' || kind === 'interface'
    const start = (match.index ?? 0) + whole.length
    const body = hasMembers ? text.slice(start, text.indexOf('\n}', start)) : ''
    const parents = hasMembers ? (/extends ([^{]*)/.exec(head)?.[1] ?? '') : ''
    found.set(name, {
      isDocumented: comment !== undefined,
      parents: [...parents.matchAll(/\w+/g)].map(String).filter((each) => !FOREIGN.has(each)),
      bare: bareMembers(body),
      body,
    })
  }
  return found
}

const FOREIGN = new Set(['Agent', 'Error', 'Partial', 'Iterable'])

// One docstring is enough for a getter with its setter, and for a function with several signatures. The
// docstring of a class documents its constructor.
function bareMembers(body: string): string[] {
  const documented = new Set(['constructor', '#private'])
  const bare = new Set<string>()
  let isBelowComment = false
  for (const line of body.split('\n')) {
    const name =
      /^ {4}(?:(?:static|readonly|get|set|declare) )*(#?\w+|\[[\w.]+\]|'[^']+'|"[^"]+")\??[(:;<]/.exec(
        line,
      )?.[1]
    if (name !== undefined) (isBelowComment ? documented : bare).add(name)
    isBelowComment = /\*\/$/.test(line)
  }
  return [...bare].filter((name) => !documented.has(name))
}

function fileOf(file: DeclarationFile, name: string): DeclarationFile {
  const pattern = new RegExp(
    `import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.{1,2}/[\\w/-]+)\\.`,
  )
  const imported = pattern.exec(file.text)?.[1]
  if (imported === undefined) return file
  return declarationsIn(posix.join(posix.dirname(file.path), `${imported}.d.ts`))
}
