import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController, HttpRequest, type HttpResponse } from '../../lib/index.ts'
import { canBacktrack, mayRun } from '../../lib/routing/backtracking.ts'

describe('canBacktrack()', () => {
  it('recognizes a repeated group that divides a text in several ways', () => {
    for (const source of [
      ...['(a+)+', '(a*)*b', '(?:\\w+\\s?)+', '([a-z]+)*x', '(\\w+\\d)+', '((a+))+', '(a+){2,}'],
      ...['(\\w|\\d)*', '(?:a|a)+', '(a|[ab])+', '(?<x>\\d+)*', '([^/]+/?)+', '(x(a+)+y)', '(.*)+'],
      ...['(a{2,})+', '(?:(?:a+)b?)*', '((a|b)+)+', '(\\p{L}+)+'],
    ]) {
      assert.equal(
        canBacktrack(new RegExp(`^(?:${source})$`, source.includes('\\p') ? 'u' : '')),
        true,
        source,
      )
    }
  })

  it('accepts others', () => {
    for (const source of [
      ...[
        '\\d+',
        '(\\d+)',
        '(a+)?',
        '(?:/[^/]+)*',
        '(\\w+-)+',
        '(?:a|b)+',
        '([a-z]+\\d)+',
        '(ab)+',
      ],
      ...[
        '(\\d{4})-(\\w+)\\.html',
        'a{2,3}',
        '(?:\\d{1,3}\\.){3}',

        '[(+]+',
        '\\(+\\)+',
        '(a+){2}',
      ],
    ]) {
      assert.equal(canBacktrack(new RegExp(`^(?:${source})$`, '')), false, source)
    }
  })

  it('is warned of at the start', () => {
    const warnings: unknown[] = []
    const none = (): void => {}
    const logger = {
      info: none,
      error: none,
      warn: (...args: unknown[]) => void warnings.push(args),
    }
    const routes = {
      slow: { path: '/:id', requirements: { id: '(a+)+' } },
      fast: { path: '/:id/x', requirements: { id: '\\d+' } },
      regex: { regex: '(?:\\w+ ?)*' },
      host: { host: ':a.example', requirements: { a: '(?:[a-z]|a)*' } },
    }
    new FrontController({ routes, logger })
    assert.deepEqual(
      warnings.map((each) => (each as [{ route: string }])[0].route),
      ['slow', 'regex', 'host'],
    )
  })
})

describe('mayRun()', () => {
  const runs = (source: string, length: number): boolean =>
    mayRun(new RegExp(`^(?:${source})$`, 'iu'), 'a'.repeat(length))

  it('lets two open pieces that can share a text run on at most 1,024 characters', () => {
    for (const source of [
      ...['(.*)-(.*)', '(\\d+)-?(\\d+)\\.html', '([\\w-]+)-(\\d+)'],
      ...['x|(.+)a(.+)', '(?:(.*)-(.*))?', '(?<a>[a-z]*)(?<b>[a-z]*)', '\\w{2,}\\w{2,}'],
    ]) {
      assert.deepEqual([runs(source, 1_024), runs(source, 1_025)], [true, false], source)
    }
  })

  it('lets three of them run on at most 256 characters, and more on 64', () => {
    for (const [source, length] of [
      ['(.*)-(.*)-(.*)x', 256],
      ['((.*)-(.*))-(.*)', 256],
      ['blog/(.+)/(.+)-(\\d+)', 256],
      ['(?:a|(.+)b(.+)).*', 256],
      ['[а-я]+[а-я]+1|.*.*.*', 256],
      ['(?:\\w+[ -]?){2,3}', 256],
      ['.*.*.*.*x', 64],
      ['(?:[a-z]+-?){1,5}', 64],
      ['.*.*.*.*.*x', 64],
    ] as const) {
      assert.deepEqual([runs(source, length), runs(source, length + 1)], [true, false], source)
    }
  })

  it('lets others run on each text', () => {
    for (const source of [
      ...[
        '(.+)',
        '[\\w-]+\\.[\\w-]+\\.[\\w-]+',
        '(\\d{4})/(\\d+)/(.+)',
        '(?:/[^/]+)*',
        '[a-z]+\\d+',
      ],
      ...['\\d+(?:,\\d+)*', '[a-z0-9]+(?:-[a-z0-9]+)*', '[a-z]+(?:/[a-z]+)*', '(\\d+)(?:-(\\d+))?'],
      ...['(.+)|(.*)', '\\w{1,3}\\w+', '[^/]+/[^/]+/[^/]*'],
    ]) {
      assert.equal(runs(source, 8_000), true, source)
    }
  })

  it('applies to the expressions of routes', async () => {
    const routes = {
      regex: { regex: '(.*)-(.*)\\.html', map: { a: 1, b: 2 } },
      path: { path: '/x/:id', requirements: { id: '[\\w-]+-[\\w-]+' } },
    }
    const action = { index: (_: HttpRequest, response: HttpResponse) => response.text('ok') }
    const front = new FrontController({ controllers: { index: action }, routes })
    const routeOf = async (target: string): Promise<string | null> =>
      (await front.handle(new HttpRequest({ target }))).request?.route ?? null
    const cases: [target: string, route: string | null][] = [
      ['/a-b.html', 'regex'],
      [`/${'a'.repeat(500)}-${'b'.repeat(500)}.html`, 'regex'],
      [`/${'a'.repeat(600)}-${'b'.repeat(600)}.html`, null],
      [`/x/${'a'.repeat(500)}-b`, 'path'],
      [`/x/${'a'.repeat(1_500)}-b`, null],
    ]
    for (const [target, route] of cases) assert.equal(await routeOf(target), route)
  })
})
