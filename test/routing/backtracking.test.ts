import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController } from '../../lib/index.ts'
import { canBacktrack } from '../../lib/routing/backtracking.ts'

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
