import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { collectLog } from '../support/collectors.ts'
import { createFolder } from '../support/folder.ts'
import { createFront } from '../support/front.ts'
import { blocksOf } from '../support/markdown.ts'
import { repositoryFile } from '../support/repository.ts'
import { runNode } from '../support/run-node.ts'
import { startServing } from '../support/serving.ts'

// A folder of the project, to which the lock file has a link.
const WORKSPACE = 'test/packages'

describe('The linter', () => {
  it('checks the files of the project, and not those that a reader of the README adds', async (t) => {
    const broken = 'var a = 1'
    const readme = blocksOf(readFileSync(repositoryFile('README.md'), 'utf8'))
    const added = readme.map(({ name }) => name).filter((name) => /\.\w+$/.test(name))
    assert.ok(added.includes('controllers/articles.js'))
    const folder = createFolder(t, {
      ...Object.fromEntries(added.map((name) => [name, broken])),
      'biome.json': readFileSync(repositoryFile('biome.json'), 'utf8'),
      'server.ts': broken,
      'lib/http/a.ts': broken,
      'test/http/a.test.ts': broken,
      'tools/a.js': broken,
    })
    const args = ['lint', '--reporter=summary', '--vcs-enabled=false', '.']
    const { output } = await runNode([repositoryFile('node_modules/.bin/biome'), ...args], folder)
    const named = output.match(/[\w./-]+\.[jt]s\b/g) ?? []
    const expected = ['lib/http/a.ts', 'server.ts', 'test/http/a.test.ts', 'tools/a.js']
    assert.deepEqual([...new Set(named)].sort(), expected, output)
  })
})

describe('The lock files', () => {
  for (const folder of ['.', 'bench', 'tools']) {
    const text = readFileSync(repositoryFile(`${folder}/package-lock.json`), 'utf8')
    const packages: Record<string, Locked> = JSON.parse(text).packages

    it(`in ${folder} have no package that does not support Node 20.19`, () => {
      const wrong = Object.entries(packages)
        .filter(([, { engines }]) => !supports(engines?.node ?? '*', [20, 19]))
        .map(([name, { engines }]) => `${name}: ${engines?.node}`)
      assert.deepEqual(wrong, [])
    })

    it(`in ${folder} name no host but the registry of npm`, () => {
      const hosts = Object.values(packages)
        .flatMap(({ link, resolved }) => (link && resolved === WORKSPACE ? [] : (resolved ?? [])))
        .map((resolved) => new URL(resolved, 'file:').host)
      assert.deepEqual(
        hosts.filter((host) => host !== 'registry.npmjs.org'),
        [],
      )
    })
  }

  it('are checked by a test that knows the ranges of npm', () => {
    for (const range of [
      '*',
      '>=18',
      '>= 20',
      '>=0.10.0',
      '18 || 20 || >=22',
      '^20.19.0 || >=22.12.0',
      '>=20 <23',
      '20.x',
    ]) {
      assert.equal(supports(range, [20, 19]), true, range)
    }
    for (const range of [
      '>=22',
      '^18',
      '^20.20.0',
      '>=20.19.1',
      '18 || >=22',
      '>=18 <20',
      '<= 20.0.0',
    ]) {
      assert.equal(supports(range, [20, 19]), false, range)
    }
  })
})

describe('The benchmark', () => {
  it('expects the error page that Portico sends, because the other servers send a copy of it', async (t) => {
    const { checkResponse } = await import(repositoryFile('bench/same-bytes.js'))
    const front = createFront({ news: { list() {} } }, { logger: collectLog().logger })
    const { port } = await startServing(t, front)
    await checkResponse('portico', 'W4', port)
  })
})

interface Locked {
  readonly engines?: { readonly node?: string }
  readonly resolved?: string
  readonly link?: boolean
}

type Version = readonly number[]

/** Reports whether a version is in a range, such as `^20.19.0 || >=22`. */
function supports(range: string, version: Version): boolean {
  return range.split('||').some((part) => {
    const comparators = part.matchAll(/(>=|<=|[<>^~]?)\s*v?(\d+|[*x])((?:\.(?:\d+|[*x]))*)/g)
    return [...comparators].every(([, operator = '', major = '', rest = '']) => {
      if (!/^\d/.test(major)) return true
      const other = `${major}${rest}`.split('.').map((number) => Number(number) || 0)
      const order = compare(version, other)
      if (operator === '>=') return order >= 0
      if (operator === '<=') return order <= 0
      if (operator === '<') return order < 0
      if (operator === '>') return order > 0
      return version[0] === other[0] && order >= 0
    })
  })
}

function compare(one: Version, other: Version): number {
  const at = [0, 1, 2].find((i) => (one[i] ?? 0) !== (other[i] ?? 0)) ?? 0
  return (one[at] ?? 0) - (other[at] ?? 0)
}
