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
})
