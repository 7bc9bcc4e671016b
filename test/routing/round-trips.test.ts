import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { stateOf } from '../../lib/http/request.ts'
import type { RoutePattern } from '../../lib/routing/route-pattern.ts'
import { routing } from '../support/routing.ts'

const routes: Record<string, RoutePattern> = {
  // Its root would hide that of the others.
  rest: { rest: { default: ['news'], admin: ['report', 'index'] } },
  path: { path: '/p/:a/:b/*', defaults: { controller: 'p', b: 'x' } },
  names: { path: '/n/:controller/:action/:a', requirements: { a: '\\w+' } },
  regex: {
    regex: 'r/(.+)-(\\d+)(?:/(.*))?',
    map: { 1: 'a', 2: 'b' },
    reverse: 'r/%s-%d/%s',
    defaults: { controller: 'r', 3: '' },
  },
  regexNames: {
    regex: 'rn/([^/]+)/([a-z]*)(\\d*)',
    map: { controller: 1, a: 2 },
    reverse: 'rn/%s/%s%3$s',
  },
  host: { host: ':a.:b.example', path: '/h/:c', defaults: { controller: 'h', b: 'www' } },
  hostOnly: { host: ':a.only.example', requirements: { a: '[a-y0-9-]+' } },
  scheme: { scheme: 'https', path: '/s/:a', defaults: { controller: 's' } },
  parent: { path: '/:c', abstract: true, requirements: { c: '[a-z]{2}' }, defaults: { b: 'd' } },
  child: { under: 'parent', path: 'u/:a/*', defaults: { controller: 'u' } },
  text: { path: '/t', abstract: true },
  dash: {
    under: 'text',
    separator: '-',
    regex: '(.+)_(.*)',
    reverse: '%s_%s',
    map: { a: 1, b: 2 },
  },
  site: { host: ':c.site.example', scheme: 'https', abstract: true },
  deep: { under: 'site', path: 'd/:a', abstract: true },
  leaf: { under: 'deep', regex: 'l(\\d*)', reverse: 'l%s', map: { b: 1 }, defaults: { b: '' } },
  restUnder: { under: 'text', host: 'api.example', rest: true },
}
const target = routing(routes, { basePath: '/app' })

const value = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('ab', 'de', '5', '42', '7') },
  fc.constantFrom(
    'x',
    'ab',
    '5',
    '42',
    '007',
    '',
    'a/b',
    'a b+c',
    'new',
    'edit',
    'index',
    'ä',
    '..',
  ),
  fc.string({ maxLength: 5 }),
  fc.string({ unit: 'grapheme', maxLength: 3 }),
  fc.string({ unit: 'binary', maxLength: 3 }),
)
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('news', 'report', 'index', 'admin', 'a-b', 'default') },
  fc.string({ minLength: 1, maxLength: 4 }),
)
const params = fc.record({
  module: fc.constantFrom('default', 'admin'),
  controller: name,
  action: fc.oneof(name, fc.constantFrom('new', 'edit', 'get')),
  a: value,
  b: value,
  c: value,
  3: value,
  id: value,
  k: value,
})

// Removes what the route cannot hold, so that most URLs can be built.
const KEYS: Record<string, readonly string[]> = {
  path: ['a', 'b', 'c', 'id', 'k'],
  names: ['controller', 'action', 'a'],
  regex: ['a', 'b', '3'],
  regexNames: ['controller', 'a', '3'],
  host: ['a', 'b', 'c'],
  hostOnly: ['a'],
  scheme: ['a'],
  child: ['a', 'c', 'id', 'k'],
  dash: ['a', 'b'],
  leaf: ['a', 'b', 'c'],
  rest: ['module', 'controller', 'action', 'id', 'k'],
  restUnder: ['module', 'controller', 'action', 'id', 'k'],
}
const RUNS = 9_000

describe('The URL of a route', () => {
  for (const [route, keys] of Object.entries(KEYS)) {
    it(`leads back to its target: ${route}`, () => {
      let built = 0
      const property = fc.property(params, fc.nat(99), (all, dice) => {
        // A tenth has keys that the route cannot hold, and half lack some that it needs.
        const isMine = (key: string): boolean => dice < 10 || keys.includes(key)
        const isKept = (i: number): boolean => dice < 50 || dice % (i + 2) > 0
        const given = Object.entries(all).filter(([key], i) => isMine(key) && isKept(i))
        const start = target('/app/', { headers: { host: 'a.example:8080' } })
        let url: string
        try {
          url = start.urlFor(Object.fromEntries(given), { name: route, reset: true })
        } catch (error) {
          assert.ok(error instanceof TypeError, String(error))
          return
        }
        built++
        check(route, url, new Map(given))
      })
      fc.assert(property, { numRuns: RUNS })

      assert.ok(built > 500, `${built} URLs`)
    })

    it(`can be built again from its own request: ${route}`, () => {
      const property = fc.property(params, (all) => {
        const given = Object.entries(all).filter(([key]) => keys.includes(key))
        const start = target('/app/', { headers: { host: 'a.example' } })
        let first: string
        try {
          first = start.urlFor(Object.fromEntries(given), { name: route, reset: true })
        } catch {
          // The test above checks the error.
          return
        }
        const request = requested(first)
        assert.deepEqual(
          placeOf(requested(request.urlFor(), new URL(first, 'http://a.example:8080').href)),
          placeOf(request),
          first,
        )
      })
      fc.assert(property, { numRuns: 1_000 })
    })
  }
})

// Routes a URL as a browser requests it.
function requested(url: string, base = 'http://a.example:8080') {
  const { protocol, host, pathname } = new URL(url, base)
  return target(pathname, {
    headers: { host },
    protocol: protocol === 'https:' ? 'https' : 'http',
  })
}

function placeOf(request: ReturnType<typeof requested>): unknown[] {
  const { module, controller, action, pairs } = request
  return [module, controller, action, ...[...pairs].sort()]
}

function check(route: string, url: string, given: ReadonlyMap<string, string>): void {
  const request = requested(url)
  const { route: found, rejection } = stateOf(request)
  assert.equal(rejection, undefined, url)
  const links = linksOf(route)
  const defaults = Object.assign({}, ...links.map(({ defaults = {} }) => defaults))
  const expected = new Map<string, string>([
    ['module', 'default'],
    ['controller', 'index'],
    ['action', 'index'],
  ])
  for (const [key, value] of Object.entries(defaults)) {
    if (value !== null) expected.set(key, String(value))
  }
  for (const [key, value] of given) expected.set(key, value)
  const isRest = links.at(-1)?.rest !== undefined
  const { module, controller, action, pairs } = request
  const actual = new Map([
    ...Object.entries({ module, controller, action }),
    ...[...pairs].filter(([key]) => key !== ''),
  ])
  // A REST URL names the resource.
  if (isRest && !['new', 'edit'].includes(expected.get('action') ?? '')) {
    assert.ok(['index', 'get'].includes(actual.get('action') ?? ''), url)
    expected.set('action', action)
  }
  assert.deepEqual([...actual].sort(), [...expected].sort(), `${url} by ${found?.name}`)
}

function linksOf(route: string): RoutePattern[] {
  const pattern = routes[route] as RoutePattern
  return pattern.under === undefined ? [pattern] : [...linksOf(pattern.under), pattern]
}
