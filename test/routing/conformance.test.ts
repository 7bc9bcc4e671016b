import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type HttpRequest, stateOf } from '../../lib/http/request.ts'
import type { UrlParams } from '../../lib/http/route.ts'
import type { RoutePattern } from '../../lib/routing/route-pattern.ts'
import { repositoryFile } from '../support/repository.ts'
import { type Routing, routing } from '../support/routing.ts'

// test/conformance/README.md describes the vectors.

interface Vector {
  readonly routes: readonly (readonly [string, RoutePattern & { readonly static?: boolean }])[]
  readonly request: {
    readonly method: string
    readonly target: string
    readonly host: string
    readonly scheme: 'http' | 'https'
    readonly override: string
  }
  readonly zf1: Found
  readonly expect?: Found
  readonly why?: readonly string[]
  readonly url?: {
    readonly params: UrlParams
    readonly name: string | null
    readonly reset: boolean
    readonly expect: string | null
    readonly why: string
  }
}
type Found = Readonly<Record<string, unknown>>

const vectors: Vector[] = readFileSync(repositoryFile('test/conformance/routes.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

describe('The routes of ZF1', () => {
  it(`lead where they lead in ZF1, in all ${vectors.length} vectors`, () => {
    assert.ok(vectors.length >= 400)
    for (const vector of vectors) {
      const { zf1, expect = zf1 } = vector
      assert.deepEqual(foundBy(requestOf(vector)), expect, JSON.stringify(vector))
    }
  })

  it('build the URLs of the vectors', () => {
    const withUrl = vectors.filter(({ url }) => url)
    assert.ok(withUrl.length > 100)
    for (const vector of withUrl) {
      const { params = {}, name, reset = false, expect } = vector.url ?? {}
      const build = () => requestOf(vector).urlFor(params, { ...(name ? { name } : {}), reset })
      if (typeof expect === 'string') assert.equal(build(), expect, JSON.stringify(vector))
      else assert.throws(build, TypeError, JSON.stringify(vector))
    }
  })

  it('have a difference for each vector that differs', () => {
    const text = readFileSync(repositoryFile('docs/specification.md'), 'utf8')
    const ids = new Set(
      vectors.flatMap(({ why = [], url }) => [...why, ...(url?.why.match(/X\d+/g) ?? [])]),
    )
    for (const id of ids) assert.match(text, new RegExp(`^\\| ${id} \\|`, 'm'))
    assert.ok(ids.size > 15)
  })
})

function requestOf({ routes, request }: Vector): HttpRequest {
  const { method, target, host, scheme, override } = request
  const patterns = routes.map(([name, { static: _, ...pattern }]) => [name, pattern] as const)
  const route: Routing = routing(new Map(patterns as [string, RoutePattern][]), {
    modules: ['default', 'admin', 'api'],
    // The controller `full` has actions for all methods.
    hasAction: ({ controller, action }) =>
      controller === 'full' || !['head', 'options'].includes(action),
  })
  const headers = { host, ...(override ? { 'x-http-method-override': override } : {}) }
  return route(target, { method, protocol: scheme, headers })
}

function foundBy(request: HttpRequest): Found {
  const { module, controller, action, pairs } = request
  const keys = [...new Set(pairs.keys())].filter(
    (key) => !['module', 'controller', 'action'].includes(key),
  )
  const params = keys.sort().map((key) => [key, pairs.getAll(key)])
  return { route: stateOf(request).route?.name ?? 'default', module, controller, action, params }
}
