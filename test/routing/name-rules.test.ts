import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nameKeys } from '../../lib/routing/name-rules.ts'

describe("names: 'exact'", () => {
  it('leaves every name unchanged', () => {
    const { module, controller, action } = nameKeys.exact
    for (const name of ['news', 'News', 'foo-bar', 'n!ews.', 'a_b', '__proto__', '0', '%41']) {
      assert.deepEqual([module(name), controller(name), action(name)], [name, name, name])
    }
  })
})

describe("names: 'zf1'", () => {
  const { module, controller, action } = nameKeys.zf1
  const oneName = (fold: (name: string) => string, names: readonly string[]): void =>
    assert.equal(new Set(names.map(fold)).size, 1, `${names.map(fold)}`)

  it('ignores case, and drops characters other than letters, digits and word breaks', () => {
    for (const fold of [controller, action]) {
      oneName(fold, [
        'news',
        'NEWS',
        'nEwS',
        'n!ews',
        'news.',
        '-news',
        '..news',
        '~n*e(w)s--',
        'néews',
      ])
    }
  })

  it('breaks words at "-" and ".", once for a run of them', () => {
    for (const fold of [controller, action]) {
      oneName(fold, ['foo-bar', 'foo.bar', 'FOO-BAR', 'foo--bar', 'foo.-bar', 'foo-bar.'])
      assert.notEqual(fold('foo-bar'), fold('foobar'))
      assert.equal(fold('v-2'), fold('v2'))
    }
  })

  it("splits a controller's name at '_', and drops it from an action's", () => {
    oneName(controller, ['admin_news', 'Admin_NEWS', 'a!dmin_n!ews'])
    assert.equal(
      new Set(['adminnews', 'admin_news', 'admin-news', '_news'].map(controller)).size,
      4,
    )
    oneName(action, ['adminnews', 'admin_news', '_adminnews'])
  })

  it('writes a key with thousands of parts as one text', (t) => {
    const { spell } = nameKeys.zf1
    const replace = t.mock.method(String.prototype, 'replace')
    assert.equal(
      spell(`${'A_B__'.repeat(1_000)}NewsDesk_3V`),
      `${'a_b__'.repeat(1_000)}news-desk_3-v`,
    )
    assert.equal(controller('a_-b__.'.repeat(36)), 'A_B__'.repeat(36))
    assert.ok(replace.mock.callCount() < 100, `${replace.mock.callCount()}`)
  })

  it('folds only the case of a name of more than 1,024 characters', () => {
    for (const fold of [controller, action]) {
      assert.equal(fold(`${'-'.repeat(1_020)}News`), 'News')
      assert.equal(fold(`${'-'.repeat(1_021)}News`), `${'-'.repeat(1_021)}news`)
    }
  })

  it('converts the letters of a name at once', (t) => {
    const toLowerCase = t.mock.method(String.prototype, 'toLowerCase')
    assert.equal(module('aB'.repeat(4_000)), 'ab'.repeat(4_000))
    assert.equal(toLowerCase.mock.callCount(), 1)
  })

  it("only lowers the case of a module's name", () => {
    assert.equal(module('API-v2'), 'api-v2')
    assert.equal(module('a.P!i_'), 'a.p!i_')
  })

  it('folds ASCII only: a Kelvin sign does not become k, nor a dotted I i', () => {
    assert.equal(module('\u212A\u0130'), '\u212A\u0130')
    assert.equal(action('new\u212A'), action('new'))
  })

  it('returns an empty text for a name without letters and digits', () => {
    for (const name of ['', '!', '-', '..', 'é']) assert.equal(action(name), '')
  })
})
