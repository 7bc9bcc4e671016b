import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { translateIni } from '../../lib/inspect/ini-routes.ts'
import { checkedRoutes } from '../../lib/routing/route-table.ts'

const INI = `
phpSettings.display_errors = 0
; a comment
[production]
resources.db.adapter = "pdo" ; not a route
resources.router.routes.article.route = "/news/:id"
resources.router.routes.article.defaults.controller = news
resources.router.routes.article.defaults.action = 'view'
resources.router.routes.article.reqs.id = "\\d+"
resources.router.routes.archive.type = "Zend_Controller_Router_Route_Regex"
resources.router.routes.archive.route = "archive/(\\d{4})-(\\w+)\\.html"
resources.router.routes.archive.map.1 = year
resources.router.routes.archive.map.slug = 2
resources.router.routes.archive.reverse = "archive/%d-%s.html"
resources.router.routes.about.type = Zend_Controller_Router_Route_Static
resources.router.routes.about.route = about
resources.router.routes.site.type = Zend_Controller_Router_Route_Hostname
resources.router.routes.site.route = ":account.news.example"
resources.router.routes.site.scheme = https
resources.router.routes.site.chains.home.route = home
resources.router.routes.site.chains.home.chains.page.route = ":page"
resources.router.routes.site.chains.1 = article
resources.router.routes.api.type = Zend_Rest_Route
resources.router.routes.api.default = "news,account"
resources.router.routes.all.type = Zend_Rest_Route
resources.router.routes.hidden.route = hidden
resources.router.routes.hidden.abstract = on
resources.router.routes.both.type = Zend_Controller_Router_Route_Chain
resources.router.routes.both.chain = "hidden, article"

[staging : production]
resources.router.routes.article.reqs.id = "[0-9]+"
resources.router.routes.extra.route = extra
`

describe('translateIni()', () => {
  it('translates each type, and chains', () => {
    const { routes, problems } = translateIni(INI)
    assert.deepEqual(problems, [])
    const article = {
      path: '/news/:id',
      defaults: { controller: 'news', action: 'view' },
      requirements: { id: '\\d+' },
    }
    assert.deepEqual(routes, {
      article,
      archive: {
        regex: 'archive/(\\d{4})-(\\w+)\\.html',
        map: { 1: 'year', slug: '2' },
        reverse: 'archive/%d-%s.html',
      },
      about: { path: 'about' },
      site: { host: ':account.news.example', scheme: 'https', abstract: true },
      'site-home': { path: 'home', under: 'site', abstract: true },
      'site-home-page': { path: ':page', under: 'site-home' },
      'site-article': { ...article, under: 'site', abstract: false },
      api: { rest: { default: ['news', 'account'] } },
      all: { rest: true },
      hidden: { path: 'hidden', abstract: true },
      both: { ...article, under: 'hidden', abstract: false },
    })
    assert.equal(checkedRoutes(routes).length, 11)
  })

  it('ignores the case of letters in requirements, and drops NUL', () => {
    const { routes } = translateIni(
      '[a]\nroutes.x.route = ":a/:b"\nroutes.x.reqs.a = "ä+"\nroutes.x.reqs.b = "\0\\d+\0"',
    )
    // As texts: Bun escapes the letter in an expression of the code.
    const { a, b } = routes.x?.requirements ?? {}
    assert.deepEqual([String(a), b], ['/ä+/i', '\\d+'])
  })

  it('applies a section over those that it extends', () => {
    const { routes } = translateIni(INI, 'staging')
    assert.deepEqual(routes.article?.requirements, { id: '[0-9]+' })
    assert.deepEqual(Object.keys(routes).at(-1), 'extra')
    assert.throws(() => translateIni(INI, 'nosuch'), /no section "nosuch"/)
    assert.throws(() => translateIni('[a : b]\n[b : a]\nroutes.x.route = x'), /no section/)
    assert.deepEqual(translateIni('routes.x.route = x').routes, { x: { path: 'x' } })
  })

  it('names each line that it cannot translate', () => {
    const { routes, problems } = translateIni(`[production]
routes.a.type = My_Route
routes.a.route = a
routes.b.route = "@news/:id"
routes.c.route = c
routes.c.locale = de
routes.d.route = APPLICATION_ROUTE
routes.e.type = Zend_Controller_Router_Route_Regex
routes.e.route = "(a)"
routes.e.reverse = "%05d"
routes.f.type = Zend_Controller_Router_Route_Module
routes.g.type = Zend_Controller_Router_Route_Chain
routes.g.chain = "c, nosuch"
`)
    assert.deepEqual(Object.keys(routes), ['c'])
    assert.deepEqual(
      problems.map(([line, problem]) => [line, problem.replace(/(.{48}).*/, '$1')]),
      [
        [2, 'the route "a" has the type My_Route, which Porti'],
        [4, 'the route "b" is left out: it has a translated s'],
        [6, 'the route "c" has "locale", which is not transla'],
        [7, 'routes.d.route: the value is not plain text'],
        [8, 'The route "e" has an invalid "reverse": expected'],
        [11, 'the route "f" has the type Route_Module, which P'],
        [13, 'there is no route "nosuch" before'],
      ],
    )
  })

  it('names the lines of values that PHP computes, and of names that lose their place', () => {
    const values = [
      'a|b',
      'a&b',
      '~a',
      '!a',
      'a^b',
      'a=b',
      '(\\d+)',
      '"$\u007bHOME}"',
      '"a$b|c(d)"',
    ]
    const lines = values.map((value, i) => `routes.r${i}.route = ${value}`)
    const { routes, problems } = translateIni(`[production]
${lines.join('\n')}
routes.404.route = gone
routes.007.route = agent
`)
    assert.deepEqual(
      problems.map(([line]) => line),
      [2, 3, 4, 5, 6, 7, 8, 9, 11],
    )
    assert.match(problems[8]?.[1] ?? '', /^the route "404" is put first/)
    assert.deepEqual(routes, {
      404: { path: 'gone' },
      r8: { path: 'a$b|c(d)' },
      '007': { path: 'agent' },
    })
  })

  it('reads text that takes expressions quadratic time, or a recursion too deep', {
    timeout: 5_000,
  }, () => {
    const spaces = ' '.repeat(500_000)
    const sections = Array.from({ length: 20_000 }, (_, i) => `[s${i + 1} : s${i}]`)
    const { routes, problems } = translateIni(
      [
        '[s0]',
        'routes.a.route = a',
        `routes.a.route${spaces}a`,
        `routes.b.route = ${spaces}b${spaces}b`,
        `routes.c.${'a.'.repeat(20_000)}a = c`,
        'routes.d.chains.1.route = d',
        ...Array.from({ length: 200_000 }, (_, i) => `routes.d.chains.x.y.k${i} = d`),
        ...sections,
      ].join('\n'),
      's20000',
    )
    assert.deepEqual(Object.keys(routes), ['a', 'b', 'd', 'd-1', 'd-x'])
    assert.deepEqual(
      problems.map(([line]) => line),
      [5, 7],
    )
  })

  it('names the other settings of the router', () => {
    const { routes, problems } = translateIni(`resources.router.chainNameSeparator = "_"
resources.frontController.baseUrl = "/app"
resources.router.routes.a.route = a
`)
    assert.deepEqual(Object.keys(routes), ['a'])
    assert.deepEqual(problems, [[1, 'the key is not translated']])
  })

  it('gives no name the meaning that it has for objects', () => {
    const { routes, problems } = translateIni(`routes.__proto__.route = a
routes.a.route = a
routes.a.defaults.__proto__ = b
routes.a.chains.1 = constructor
routes.constructor.route = c
routes.b.type = Zend_Controller_Router_Route_Chain
routes.b.chain = "a, toString"
`)
    assert.deepEqual(Object.keys(routes), ['a', 'constructor'])
    assert.equal(Object.getPrototypeOf(routes), Object.prototype)
    assert.deepEqual(problems, [
      [1, 'the key is not translated'],
      [3, 'the key is not translated'],
      [4, 'there is no route "constructor" before'],
      [7, 'there is no route "toString" before'],
    ])
  })
})
