import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { repositoryFile } from './support/repository.ts'

// From the top down: a file imports only from the floors below its own, types included.
const floors: readonly (readonly string[])[] = [
  ['server'],
  ['index', 'config', 'testing'],
  ['watcher', 'parse-failure'],
  ['settings', 'access-log', 'cluster', 'health', 'middleware'],
  ['serve', 'controller-directory', 'log', 'dispatched', 'routes-text'],
  ['explain', 'reachable', 'folder-watch'],
  ['explain-error'],
  ['client-error', 'front-controller', 'site'],
  ['wire', 'request-routing', 'development'],
  ['exchange', 'options'],
  ['dispatcher', 'error-controller', 'index-controller', 'plugin', 'reporter'],
  ['methods', 'define-controller', 'validate-params'],
  ['controller', 'error-page', 'diagnostics'],
  ['error-report', 'urls'],
  ['exception-report', 'routes', 'shown-names'],
  ['route-pattern'],
  ['error-handler', 'router', 'form-body', 'json-body', 'scrub', 'sign-in'],
  ['response', 'content'],
  ['request'],
  ['message', 'url-params'],
  ['body', 'validation-error', 'connections', 'rewrite', 'noise-budget', 'framing'],
  ['errors', 'terminal-table'],
  [
    ...['accept', 'deadlines', 'limits', 'forwarded', 'headers', 'html', 'logger', 'loopback'],
    ...['linger', 'names', 'nearest', 'params', 'printable', 'segments', 'shape'],
    ...['source-place', 'standard-schema', 'steps', 'text-mask'],
  ],
]

const files = ['server', ...readdirSync(repositoryFile('lib')).map((file) => file.slice(0, -3))]

describe('The house', () => {
  it('has every file on one floor', () => {
    assert.deepEqual(floors.flat().sort(), files.sort())
  })

  it('lets a file import only from the floors below its own', () => {
    const upward = files.flatMap((file) =>
      imports(file)
        .filter((imported) => floorOf(imported) <= floorOf(file))
        .map((imported) => `${file} imports ${imported}`),
    )
    assert.deepEqual(upward, [])
  })

  it('depends on nothing at run time, but for undici in the room for tests', () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(repositoryFile('package.json'), 'utf8'),
    )
    assert.equal(dependencies, undefined)
    assert.deepEqual(peerDependencies, { undici: '>=7' })
    assert.deepEqual(peerDependenciesMeta, { undici: { optional: true } })
    const foreign = files.flatMap((file) =>
      [...source(file).matchAll(/from '((?!node:|\.)[^']*)'/g)].map(([, name]) => [file, name]),
    )
    assert.deepEqual(foreign, [['testing', 'undici']])
    assert.deepEqual(
      files.filter((file) => imports(file).includes('testing')),
      [],
    )
  })

  it('reads process in server.ts alone, and sees a socket in the wire and in serve alone', () => {
    const using = (pattern: RegExp): string[] => files.filter((file) => pattern.test(source(file)))
    assert.deepEqual(using(/(?<!\.)\bprocess\.(?!nextTick\b)/), ['server'])
    assert.deepEqual(using(/\bSocket\b/).sort(), SEE_SOCKETS)
  })
})

const SEE_SOCKETS = ['client-error', 'connections', 'exchange', 'serve']

function floorOf(file: string): number {
  return floors.findIndex((floor) => floor.includes(file))
}

function imports(file: string): string[] {
  return [...source(file).matchAll(/from '\.\/(?:lib\/)?([\w-]+)\.ts'/g)].map(
    ([, name = '']) => name,
  )
}

function source(file: string): string {
  const text = readFileSync(
    repositoryFile(file === 'server' ? 'server.ts' : `lib/${file}.ts`),
    'utf8',
  )
  return text.replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, '')
}
