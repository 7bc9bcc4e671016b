import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePairs } from '../../lib/http/params.ts'
import type { Route } from '../../lib/http/route.ts'
import { ModuleRoute } from '../../lib/routing/module-route.ts'
import { nameKeys } from '../../lib/routing/name-rules.ts'

type Expected = readonly [
  path: string,
  module: string,
  controller: string,
  action: string,
  pairs: [string, string][],
]

function check(table: readonly Expected[], names = nameKeys.exact): void {
  for (const [path, ...expected] of table) {
    const { module, controller, action, pairs } = route(path, names)
    const read = typeof pairs === 'string' ? parsePairs(pairs) : pairs
    assert.deepEqual([module, controller, action, [...(read ?? [])]], expected, path)
  }
}

function route(path: string, names = nameKeys.exact): Route {
  return new ModuleRoute(['default', 'admin', 'api-v2'], names).routePath(path)
}

describe('ModuleRoute.routePath()', () => {
  it('gives each name a default', () => {
    check([
      ['/', 'default', 'index', 'index', []],
      ['', 'default', 'index', 'index', []],
      ['/news', 'default', 'news', 'index', []],
      ['/news/', 'default', 'news', 'index', []],
      ['/news/list', 'default', 'news', 'list', []],
    ])
  })

  it('reads the rest as pairs, and drops a last key without a value', () => {
    check([
      ['/lifecycle/flows/NAME', 'default', 'lifecycle', 'flows', []],
      ['/signin/v2/identifier', 'default', 'signin', 'v2', []],
      ['/news/view/id/42', 'default', 'news', 'view', [['id', '42']]],
      ['/news/view/id/42/', 'default', 'news', 'view', [['id', '42']]],
      ['/news/view/id/42/tag', 'default', 'news', 'view', [['id', '42']]],
      ['/news/view/a+b/%2B', 'default', 'news', 'view', [['a b', '+']]],
    ])
  })

  it('reads a module only if it is registered in this spelling', () => {
    check([
      ['/admin', 'admin', 'index', 'index', []],
      ['/admin/report', 'admin', 'report', 'index', []],
      ['/admin/report/daily/id/1', 'admin', 'report', 'daily', [['id', '1']]],
      ['/default/news/list', 'default', 'news', 'list', []],
      ['/api-v2/index/ping', 'api-v2', 'index', 'ping', []],
      ['/ADMIN/report', 'default', 'ADMIN', 'report', []],
      ['/%61dmin/report', 'default', '%61dmin', 'report', []],
      ['/administrator/report', 'default', 'administrator', 'report', []],
      ['/news/admin', 'default', 'news', 'admin', []],
      ['/admin/admin/admin', 'admin', 'admin', 'admin', []],
    ])
  })

  it("ignores the case of a module under names: 'zf1', and returns it as requested", () => {
    check(
      [
        ['/ADMIN/Report', 'ADMIN', 'Report', 'index', []],
        ['/Api-V2/x', 'Api-V2', 'x', 'index', []],
        ['/a!dmin/report', 'default', 'a!dmin', 'report', []],
      ],
      nameKeys.zf1,
    )
  })

  it('never decodes a name', () => {
    check([['/n%65ws/%6Cist+a', 'default', 'n%65ws', '%6Cist+a', []]])
  })

  it('ends the names at an empty segment', () => {
    check([
      ['/news//list', 'default', 'news', 'index', [['', 'list']]],
      [
        '/news//list/id/42',
        'default',
        'news',
        'index',
        [
          ['', 'list'],
          ['id', '42'],
        ],
      ],
      ['/news///list', 'default', 'news', 'index', [['', '']]],
      ['/admin//list', 'admin', 'index', 'index', [['', 'list']]],
      ['/admin/report//id', 'admin', 'report', 'index', [['', 'id']]],
      ['/news/view//42', 'default', 'news', 'view', [['', '42']]],
      [
        '/news/view/id//tag/a',
        'default',
        'news',
        'view',
        [
          ['id', ''],
          ['tag', 'a'],
        ],
      ],
    ])
  })

  it('ignores any number of slashes at both ends', () => {
    check([
      ['//host/path', 'default', 'host', 'path', []],
      ['///', 'default', 'index', 'index', []],
      ['//news//', 'default', 'news', 'index', []],
      ['/news/view/id//', 'default', 'news', 'view', []],
    ])
  })

  it("reads '0' as a name", () => {
    check([
      ['/0', 'default', '0', 'index', []],
      ['/news/0/0/0', 'default', 'news', '0', [['0', '0']]],
      ['/admin/0/0', 'admin', '0', '0', []],
    ])
  })

  it('reads names of Object.prototype as names and as keys', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then']) {
      check([
        [`/${name}`, 'default', name, 'index', []],
        [`/${name}/${name}/${name}/x`, 'default', name, name, [[name, 'x']]],
      ])
    }
  })

  it('keeps pairs named module, controller and action as pairs', () => {
    check([
      [
        '/news/view/module/admin/controller/report/action/daily',
        'default',
        'news',
        'view',
        [
          ['module', 'admin'],
          ['controller', 'report'],
          ['action', 'daily'],
        ],
      ],
    ])
  })

  it('reads long runs of slashes in linear time', () => {
    const slashes = '/'.repeat(300_000)
    const { controller, action, pairs } = route(`${slashes}a${slashes}b${slashes}`)
    assert.deepEqual([controller, action, pairs === `${slashes.slice(1)}b`], ['a', 'index', true])
  })
})
