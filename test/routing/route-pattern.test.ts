import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController } from '../../lib/index.ts'

describe('parsePattern()', () => {
  it('rejects an invalid pattern, with the name of its route', () => {
    const rejected: [unknown, RegExp][] = [
      [{ a: null }, /The route "a" has no "path"/],
      [{ a: { route: '/a' } }, /The route "a" has no "path"/],
      [{ a: { path: '/a', reqs: {} } }, /There is no "reqs" among the fields of the route "a"/],
      [{ default: { path: '/a' } }, /The route "default" is built in: choose another name/],
      [{ a: { path: '/a//b' } }, /The route "a" has an invalid path segment ""/],
      [{ a: { path: '/a/*/b' } }, /The route "a" has an invalid path segment "\*"/],
      [{ a: { path: '/a%20' } }, /The route "a" has an invalid path segment "a%20"/],
      [{ a: { path: '/a?b' } }, /The route "a" has an invalid path segment "a\?b"/],
      [{ a: { path: '/a/..' } }, /the segment "\.\."/],
      [{ a: { path: '/a\n' } }, /the segment "a/],
      [{ a: { path: '/:' } }, /The route "a" has an invalid variable ":": expected a name/],
      [
        { a: { path: '/:id.html' } },
        /The route "a" has an invalid variable ":id.html": expected a name/,
      ],
      [{ a: { path: '/:id/:id' } }, /The route "a" has the variable "id" twice/],
      [{ a: { path: '/:q' } }, /The route "a" must not set "q"/],
      [{ a: { path: '/', defaults: { error_handler: '' } } }, /must not set "error_handler"/],
      [
        { a: { path: '/', defaults: { id: {} } } },
        /The route "a" has an invalid default "id": expected text, a number or null/,
      ],
      [
        { a: { path: '/', defaults: { action: null } } },
        /an invalid default "action": expected text that is not empty/,
      ],
      [
        { a: { path: '/', defaults: { module: '' } } },
        /an invalid default "module": expected text that is not empty/,
      ],
      [
        { a: { path: '/', requirements: { id: 'x' } } },
        /a requirement for "id", but no such variable/,
      ],
      [{ a: { path: '/:id', requirements: { id: '(' } } }, /"id" that is not a regular expression/],
      [{ a: { path: '/:id', requirements: { id: 5 } } }, /"id" that is not a regular expression/],
    ]
    for (const [routes, message] of rejected) {
      assert.throws(() => new FrontController({ routes } as object), { name: 'TypeError', message })
    }
  })

  it('rejects mistakes in the other members', () => {
    const rejected: [object, RegExp][] = [
      [{}, /no "path", "regex", "rest" or "host"/],
      [{ scheme: 'https' }, /no "path", "regex", "rest" or "host"/],
      [{ path: '/', regex: 'a' }, /"path" and "regex"/],
      [{ path: '/', rest: true }, /"path" and "rest"/],
      [{ path: 5 }, /"path"/],
      [{ path: '/', map: { 1: 'a' } }, /"map" without "regex"/],
      [{ path: '/', reverse: 'a' }, /"reverse" without "regex"/],
      [{ path: '/', separator: '-' }, /"separator" without "under"/],
      [{ path: '/', abstract: 'yes' }, /"abstract"/],
      [{ path: '/', scheme: 'ftp' }, /"scheme"/],
      [{ regex: 5 }, /"regex"/],
      [{ regex: '(' }, /"regex"/],
      [{ regex: 'a\\A' }, /"regex" with "\\A"/],
      [{ regex: '[[:alpha:]]' }, /"regex" with "\[:"/],
      [{ regex: '(?P<a>x)' }, /"regex"/],
      [{ regex: '(a)', map: 5 }, /"map"/],
      [{ regex: '(a)', map: { 2: 'b' } }, /"map" with the group "2", but "regex" has no such/],
      [{ regex: '(a)', map: { 0: 'b' } }, /"map" with the group "0"/],
      [{ regex: '(a)', map: { b: 2 } }, /"map" with the group "2"/],
      [{ regex: '(a)', map: { b: 'x' } }, /"map" with the group "x"/],
      [{ regex: '(a)', map: { 1: 5 } }, /"map" with an invalid name for the group 1/],
      [{ regex: '(a)', map: { 1: 'q' } }, /"q", which is reserved/],
      [{ regex: '(a)(b)', map: { 1: 'x', 2: 'x' } }, /"x" twice in its "map"/],
      [{ regex: '(a)(b)', map: { 1: 'x', y: 1 } }, /"1" twice in its "map"/],
      [{ regex: '(a)', reverse: 5 }, /"reverse"/],
      [{ regex: '(a)', reverse: 'b' }, /"reverse" with other places than the 1 group/],
      [{ regex: '(a)', reverse: '%s-%s' }, /"reverse" with other places/],
      [{ regex: '(a)', reverse: '%2$s' }, /"reverse" with other places/],
      [{ regex: 'a', reverse: '%s' }, /"reverse" with other places than the 0 groups/],
      [{ regex: '(a)', reverse: '%05d' }, /an invalid "reverse"/],
      [{ regex: '(a)', reverse: '%s%%' }, /an invalid "reverse"/],
      [{ regex: '(a)', reverse: '%s?a' }, /an invalid "reverse"/],
      [{ host: '' }, /an invalid "host"/],
      [{ host: 5 }, /an invalid "host"/],
      [{ host: 'a.example:80' }, /an invalid "host"/],
      [{ host: '.example' }, /an invalid "host"/],
      [{ host: ':a.:a.example' }, /twice in its "host"/],
      [{ host: ':a.example', path: '/:a' }, /"a" in both "host" and "path"/],
      [{ host: ':a.example', regex: '(?<a>x)' }, /"a" in both "host" and "regex"/],
      [{ rest: false }, /an invalid "rest"/],
      [{ rest: [] }, /an invalid "rest"/],
      [{ rest: [5] }, /an invalid "rest"/],
      [{ rest: { default: 'news' } }, /an invalid "rest"/],
      [{ rest: ['shop'] }, /leads to the module "shop", which is not registered/],
      [{ rest: true, requirements: { id: 'x' } }, /a requirement for "id", but no such variable/],
      [{ path: '/', under: 5 }, /"under"/],
      [{ path: '/', under: 'nosuch' }, /is "under" the unknown route "nosuch"/],
      [{ path: '/', under: 'a' }, /is "under" itself/],
      [{ path: '/', under: 'api' }, /is "under" the REST route "api"/],
      [{ path: '/', under: 'variable', separator: '-' }, /"separator", but its parent/],
      [{ path: '/', under: 'text', separator: '' }, /"separator"/],
      [{ path: '/', under: 'text', separator: '?' }, /"separator"/],
    ]
    const others = {
      api: { rest: true },
      variable: { path: '/:x' },
      text: { path: '/x' },
      one: { path: '/', under: 'two' },
    }
    for (const [a, message] of rejected) {
      const routes = { ...others, two: { path: '/' }, a }
      assert.throws(
        () => new FrontController({ routes } as object),
        (error: Error) => {
          assert.match(error.message, message)
          assert.ok(error instanceof TypeError && /route "a"/.test(error.message), error.message)
          return true
        },
      )
    }
    const circle = { ...others, two: { path: '/', under: 'one' } }
    assert.throws(() => new FrontController({ routes: circle } as object), /is "under" itself/)
  })
})
