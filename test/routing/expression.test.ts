import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { stateOf } from '../../lib/http/request.ts'
import {
  FrontController,
  HttpRequest,
  type HttpResponse,
  type RoutePattern,
} from '../../lib/index.ts'
import { Expression, PATH_STEPS, sharedExpression } from '../../lib/routing/expression.ts'
import { PathText } from '../../lib/routing/path-text.ts'
import { routing } from '../support/routing.ts'

const { stringify } = JSON

// Texts and expressions of few characters, so that many match.
const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'a', 'b', '1', '-', 'A', 'é', 'ſ', '😀', '\n'),
  maxLength: 8,
})
const character = fc.constantFrom(
  ...['a', 'b', '.', '\\w', '\\d', '[ab]', '[^a]', '-', 'A', 'é', '\\.', '[a-c\\]1]', '😀'],
  ...['\\x61', '\\u0062', '\\ud83d\\ude00', '[^]', '[]', '^', '$'],
  // With the flag `u`, most of these are errors.
  ...['{', ']', '}', '{,5}', '\\c1', '\\01', '\\k', '\\p', '\\u{1}', '\\x1', '\\é'],
)
const quantifier = fc.constantFrom(
  ...['', '', '', '*', '+', '?', '{2}', '{1,2}', '{0,2}'],
  ...['{2,}', '{0}', '*?', '+?', '??', '{1,3}?'],
)
const { source } = fc.letrec<{ source: string; piece: string; atom: string }>((tie) => ({
  source: fc
    .array(fc.array(tie('piece'), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map((all) => all.map((pieces) => pieces.join('')).join('|')),
  piece: fc
    .tuple(tie('atom'), quantifier)
    .map(([atom, sign]) => (/^[$^]$/.test(atom) ? atom : atom + sign)),
  atom: fc.oneof(
    { maxDepth: 3 },
    character,
    fc.tuple(fc.constantFrom('(', '(?:'), tie('source')).map(([open, inner]) => `${open}${inner})`),
  ),
}))
const flags = fc.constantFrom('', 'i', 'u', 'iu')

function regexOf(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags)
  } catch {
    return undefined
  }
}

// An expression for a whole text.
function whole(source: string): string {
  return `^(?:${source})$`
}

describe('Expression', () => {
  it('finds what V8 finds, with the same groups', () => {
    fc.assert(
      fc.property(
        source,
        flags,
        fc.constantFrom('$', ''),
        fc.array(text),
        (part, flag, end, all) => {
          const regex = regexOf(`^(?:${part})${end}`, `${flag}d`)
          if (regex === undefined) return
          // A second quantifier, so that Portico runs it.
          const expression = new Expression(`^(?:${part})(?:[^]?[^]?){0}${end}`, `${flag}d`)
          for (const each of all) {
            const expected: RegExpIndicesArray | undefined = regex.exec(each)?.indices
            assert.equal(
              stringify(expression.find(each)),
              stringify(expected && [...expected]),
              `${regex} ${stringify(each)}`,
            )
            assert.equal(expression.test(each), expected !== undefined)
          }
        },
      ),
      // With other seeds, V8 may take a minute for one expression and eight characters.
      { numRuns: 2_000, seed: 1 },
    )
  })

  it('takes steps in proportion to a text, however often its parts can share it', () => {
    const steps = (source: string, text: string): number => {
      const effort = { steps: 1e9 }
      new Expression(whole(source), 'iu').find(text, effort)
      return 1e9 - effort.steps
    }
    for (const [source, part, end] of [
      ['(a+)+', 'a', 'b'],
      ['(?:a|a|aa)*', 'a', 'b'],
      ['(.*)-(.*)-(.*)-(.*)-(.*)x', '-', ''],
      ['(?:\\w+ ?)*', 'a', '!'],
      ['[a-z]+[a-z0-9]*(?:-[a-z]+[a-z0-9]*)*', 'aa-', '_'],
      ['shop/([a-z]+[a-z0-9]*)/([a-z]+[a-z0-9]*)/([a-z]+[a-z0-9]*)\\.html', 'a', ''],
      ['((?:[a-z]+[a-z0-9-]*/)+)([a-z0-9-]+)\\.html', 'aaa/', '!'],
      ['(?:(?:a?){3}){9}', 'a', 'b'],
      [`${'(?:'.repeat(12)}a+${')+'.repeat(12)}`, 'a', 'b'],
      ['(?:a|aa)(?:a|aa)(?:a|aa)(?:a|aa).*x', 'a', ''],
    ] as const) {
      const [short, long] = [100, 1_000].map((count) => steps(source, part.repeat(count) + end))
      assert.ok(Number(short) < 40_000, `${source}: ${short}`)
      assert.ok(Number(long) < 11 * Number(short), `${source}: ${short}, ${long}`)
    }
  })

  it('matches no text without the steps for it', () => {
    const expression = new Expression(whole('(\\w+)-(\\w+)'), '')
    const text = `${'a'.repeat(1_500)}-b`
    const effort = { steps: 100_000 }
    assert.equal(expression.test(text, effort), true)
    const steps = 100_000 - effort.steps
    assert.ok(steps > 2_500, `${steps}`)
    assert.equal(expression.test(text, { steps }), true)
    assert.equal(expression.test(text, { steps: steps - 1 }), false)
    // A short text needs fewer steps than each expression may take.
    assert.equal(expression.test('a-b', { steps: 0 }), true)
    const none = { steps: 0 }
    assert.equal(expression.test('-'.repeat(1_000), none), false)
    assert.ok(none.steps <= 0, `${none.steps}`)
  })

  it('has no limit for an expression that V8 has to run', () => {
    const isUnlimited = (source: string): boolean => new Expression(whole(source), '').isUnlimited
    for (const source of [
      ...[
        '(.+)\\1',
        '(?<x>.+)\\k<x>',
        '(a+)+\\1',
        '(?=a)(a+)+',
        '(?!a)(b+)+',
        '(?<!a)(a+)+',
        '(?<=a)(a+)+',
        '(a+)+\\b',
      ],
      ...['\\B(a+)+', '(?<x>a+)+\\k<x>', '(?:(?:\\w{1,99}){1,99}-){9}'],
      ...['(?!admin)(?!static)(?:[a-z]+-?)+', '((?=a)(a+)+)', '(?<=a)(?<!b)(a+)+'],
      `(?:${Array.from({ length: 3_000 }, (_, i) => `name${i}`).join('|')})-(.+)`,
    ]) {
      assert.equal(isUnlimited(source), true, source)
    }
    for (const source of ['(a+)+', '(?!admin).+', '(\\w+)\\b', '[\\]b(?=a)]+x+', '(?<name>a+)+']) {
      assert.equal(isUnlimited(source), false, source)
    }
    const found = new Expression(whole('(?!b)(\\w+)-(\\w+)\\b'), 'd').find('aa-b')
    assert.deepEqual(Array.from(found ?? []), [
      [0, 4],
      [0, 2],
      [3, 4],
    ])
  })

  it('makes a choice only for a text that contains the letters of the expression', () => {
    const steps = (source: string, flags: string, text: string): number => {
      const effort = { steps: 10_000 }
      new Expression(whole(source), flags).test(text, effort)
      return 10_000 - effort.steps
    }
    const source = '(de|en)/(?:(shop)/cat-7)/(\\w+)-(\\d+)'
    assert.ok(steps(source, 'i', 'de/shop/cat-8/a-1') < 10)
    assert.ok(steps(source, 'i', 'de/Shop/Cat-7/a-1') > 20)
    assert.ok(steps('(x|y)(kss){0,2}z+', '', 'xz') > 15)
    // So has an expression with one choice, for a long text.
    assert.ok(steps('(.+)c1', '', '-'.repeat(8_000)) < 500)
    assert.equal(steps('(.+)c1', '', '-'.repeat(900)), 0)
    // A long text takes time to search, but less than to match.
    assert.ok(steps('(.+)/(.+)/x', '', '/'.repeat(1_500)) < 500)
    // The long s is an s with these flags.
    assert.ok(new Expression(whole('(a|b)+s+t'), 'iu').test('a\u017ft'))
  })

  it('is warned of at the start if it has no limit', () => {
    const warnings: unknown[] = []
    const none = (): void => {}
    const logger = {
      info: none,
      error: none,
      warn: (...args: unknown[]) => void warnings.push(args),
    }
    const routes = {
      slow: { path: '/:id', requirements: { id: '(a+)+(?!b)' } },
      limited: { path: '/:id/x', requirements: { id: '(a+)+' } },
      regex: { regex: '(?:\\w+ ?)*\\b' },
      host: { host: ':a.example', requirements: { a: '(?=a)(?:[a-z]|a)*' } },
    }
    new FrontController({ routes, logger })
    assert.deepEqual(
      warnings.map((each) => (each as [{ route: string }])[0].route),
      ['slow', 'regex', 'host'],
    )
  })

  it('shares its steps with the other routes of a path, but has some for a short path', async () => {
    const slow = Array.from({ length: 500 }, (_, i): [string, RoutePattern] => [
      `r${i}`,
      { regex: `(.+)-(.+)-(\\w{1,255})[.]{${i + 1}}` },
    ])
    const respond = (_: HttpRequest, response: HttpResponse) => response.text('ok')
    const routes = new Map<string, RoutePattern>([
      ['path', { path: '/:a', requirements: { a: '-*1+' } }],
      ['simple', { path: '/:a', requirements: { a: '-+' } }],
      ['last', { regex: '(.+)-(.+)' }],
      ...slow,
    ])
    const front = new FrontController({ controllers: { index: { index: respond } }, routes })
    const routeOf = async (target: string): Promise<string | null> =>
      (await front.handle(new HttpRequest({ target }))).request?.route ?? null
    assert.equal(await routeOf('/a-b-c.'), 'r0')
    assert.equal(await routeOf('/a-b'), 'last')
    assert.equal(await routeOf(`/${'a'.repeat(60)}-b`), 'last')
    assert.equal(await routeOf(`/${'-'.repeat(60)}1`), 'last')
    // The expressions before them have taken the steps of a long path.
    assert.equal(await routeOf(`/${'-'.repeat(2_000)}`), null)
    assert.equal(await routeOf(`/${'-'.repeat(2_000)}1`), null)
  })

  // For a path that takes thousands of steps in each expression; the first route is tried last.
  const firstOf500 = (toPattern: (i: number) => RoutePattern): HttpRequest => {
    const patterns = Array.from({ length: 500 }, (_, i) => [`r${i}`, toPattern(i)])
    const target = `/${'word-'.repeat(190)}p7.html`
    return routing(Object.fromEntries(patterns))(target, { headers: { host: 't0.example' } })
  }

  it('runs once for all routes that have it', () => {
    const request = firstOf500((i) => ({
      regex: i === 0 ? '(.+)-(.+)[.](.+)' : '(.+)-(.+)-(.+)[.]([a-f]+)',
    }))
    assert.equal(stateOf(request).route?.name, 'r0')
  })

  it('runs once for a path of any length, and for a segment or a label', () => {
    for (const text of ['a-b-c', 'a-b-'.repeat(20)]) {
      const path = new PathText(text)
      const regex = sharedExpression('^(?:(.+)-(.+)-x)$', 'd')
      const requirement = sharedExpression('^(?:(.+)-(.+)-x)$', 'u')
      const attempt = (): number => {
        assert.equal(path.find(regex), undefined)
        assert.equal(path.meets(requirement, text), false)
        return path.effort.steps
      }
      const left = attempt()
      assert.ok(left < PATH_STEPS)
      assert.equal(attempt(), left)
    }
  })

  it('does not run for a route of another host', () => {
    const request = firstOf500((i) => ({
      host: `t${i}.example`,
      regex: `(?:([a-z]{2})/)?(.+?)(?:-p(\\d+))?(?:[.](html|${i}))?`,
    }))
    assert.equal(stateOf(request).route?.name, 'r0')
  })
})
