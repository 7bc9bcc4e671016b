import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createFolderInPackage, writeFileIn } from '../support/folder.ts'
import { type Block, blocksOf } from '../support/markdown.ts'
import { repositoryFile } from '../support/repository.ts'
import { runNode } from '../support/run-node.ts'
import { Site } from '../support/site.ts'

// The types of all blocks are checked. The words after the fence say how a block runs:
//
//   ```js controllers/news.js   A file of the site that the page builds.
//   ```js embed                 A program that listens. It must end with exit code 0 as soon as it listens.
//   ```js <other word>          A program that must end with exit code 0.
//   ```js                       The same if it contains assertions.
//   ```console                  Each command must print the output that the page shows: see test/support/site.ts.
//
// test/system/guide.test.ts follows the guide, in an empty folder with the packed package.
const docs = readdirSync(repositoryFile('docs')).filter((name) => name.endsWith('.md'))
// Without docs/reference/: TypeDoc writes it from the docstrings, whose examples are fragments.
const pages = ['README.md', ...docs.sort().map((name) => `docs/${name}`)].map((name) => ({
  name,
  blocks: blocksOf(readFileSync(repositoryFile(name), 'utf8')),
}))

// Further texts that a page must contain.
interface Expectation {
  /** The number of scripts that the page has at least. */
  readonly leastScripts?: number
  /** All scripts run, also those without assertions. */
  readonly runsAll?: boolean
  /** The names of the programs, in order. */
  readonly programs?: readonly string[]
  /** The output of each program. */
  readonly output?: RegExp
}
const expectations: Readonly<Record<string, Expectation>> = {
  'docs/controllers.md': { leastScripts: 8, runsAll: true },
  'docs/routing.md': { programs: ['routes', 'kinds', 'urls'] },
  'docs/sign-in.md': { leastScripts: 8 },
  // Each program has tests that pass.
  'docs/testing.md': { programs: ['dispatched', 'handle', 'agent'], output: /\bpass [1-9]/ },
}

describe('The code of the pages', { concurrency: 4 }, () => {
  it('has no type error', async (t) => {
    const root = createFolderInPackage(t)
    let blocks = 0
    for (const [at, page] of pages.entries()) {
      // A file that the page shows again is a new version. It has its own copy of the other files.
      let version = join(root, `${at}-0`)
      const seen = new Set<string>()
      for (const block of page.blocks.filter(isScript)) {
        const isFile = block.name.includes('.')
        const file = isFile ? block.name : `line-${block.line}.${block.language}`
        if (seen.has(file)) {
          const next = join(root, `${at}-${block.line}`)
          cpSync(version, next, { recursive: true })
          version = next
        }
        seen.add(file)
        writeFileIn(version, file, typed(block, page.name))
        blocks++
      }
    }
    assert.ok(blocks > 0)
    writeFileIn(root, 'tsconfig.json', JSON.stringify(TSCONFIG))
    // The types of Node 20 do not have it.
    writeFileIn(root, 'sqlite.d.ts', "declare module 'node:sqlite'\n")
    const tsc = repositoryFile('node_modules/typescript/bin/tsc')
    const { code, output } = await runNode([tsc, '--project', root])
    assert.equal(code, 0, output)
  })

  for (const { name, blocks } of pages) {
    const { runsAll = false, output = /(?:)/ } = expectations[name] ?? {}
    const runnable = blocks.filter((block) => runs(block, runsAll))
    if (runnable.length === 0 || name === 'docs/guide.md') continue
    it(`runs, and prints what ${name} shows`, async (t) => {
      const site = new Site(t, createFolderInPackage(t), { output })
      for (const block of runnable) {
        await site.play(block, `${name}:${block.line}, "${block.section}"`)
      }
    })
  }

  for (const [name, { leastScripts = 0, programs }] of Object.entries(expectations)) {
    it(`has the expected programs in ${name}`, () => {
      const scripts = pages.find((page) => page.name === name)?.blocks.filter(isScript) ?? []
      assert.ok(scripts.length >= leastScripts, `${scripts.length} scripts`)
      if (programs === undefined) return
      assert.deepEqual(
        scripts.filter((block) => block.name !== '').map((block) => block.name),
        programs,
      )
    })
  }
})

describe('README.md', () => {
  const readme = readFileSync(repositoryFile('README.md'), 'utf8')

  it('names commands that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(repositoryFile('package.json'), 'utf8'))
    const named = [...readme.matchAll(/npm (?:run )?(start|test|build)\b/g)].map(([, name]) => name)
    assert.deepEqual([...new Set(named)].sort(), ['start', 'test'])
    for (const name of named) assert.ok(scripts[name ?? ''], name)
  })

  it('begins with two sentences, the commands of a user and those of a contributor', () => {
    const [, sentences = ''] = /^# Portico\n\n(.*?)\n\n```sh\n/s.exec(readme) ?? []
    assert.equal(sentences.match(/\.(?= |\n|$)/g)?.length, 2)
    const blocks = [...readme.matchAll(/^```sh\n(.*?)\n```/gms)].map(([, commands = '']) =>
      commands.split('\n').map((line) => line.split('#')[0]?.trim()),
    )
    assert.deepEqual(blocks.slice(0, 2), [
      ['npm install portico && npx portico init', 'npm test && npm start'],
      ['npm ci && npm start', 'npm ci && npm test'],
    ])
  })
})

const TSCONFIG = {
  extends: repositoryFile('examples/tsconfig.json'),
  compilerOptions: {
    rootDir: '.',
    noImplicitAny: false,
    noUnusedParameters: false,
    noUnusedLocals: false,
    types: ['node'],
    typeRoots: [repositoryFile('node_modules/@types')],
  },
  include: ['.'],
  exclude: [],
}

function isScript({ language }: Block): boolean {
  return language === 'js' || language === 'ts'
}

function runs({ language, name, code }: Block, runsAll: boolean): boolean {
  if (language !== 'js') return language === 'console' || name === '.env'
  return runsAll || name !== '' || /'node:assert/.test(code)
}

/** Adds the types of an action's parameters to JavaScript: without them, `tsc` could not check the code. */
function typed({ language, code, line }: Block, page: string): string {
  const header = `// ${page}:${line}\n`
  if (language === 'ts') return header + code
  const parameters = code.replace(
    /\((_?request)(?:, (_?response))?\)(?= \{)/g,
    (_, request, response) =>
      `(/** @type {import('portico').HttpRequest} */ ${request}${
        response === undefined ? '' : `, /** @type {import('portico').HttpResponse} */ ${response}`
      })`,
  )
  return header + parameters
}
