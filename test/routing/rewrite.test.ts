import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpError, NoRouteError } from '../../lib/http/errors.ts'
import { rewrite } from '../../lib/routing/rewrite.ts'

describe('rewrite()', () => {
  const accepted = (table: readonly (readonly [string, string, string])[], basePath = ''): void => {
    for (const [target, path, q] of table) {
      assert.deepEqual(rewrite(target, basePath), { path, q }, target)
    }
  }
  const rejected = (targets: readonly string[], message: string): void => {
    for (const target of targets) {
      const { rejection } = rewrite(target, '')
      assert.ok(rejection, JSON.stringify(target))
      assert.deepEqual(
        [rejection.status, rejection.type, rejection.message],
        [400, 'EXCEPTION_OTHER', message],
      )
    }
  }

  it('keeps the raw path, and decodes it once as q', () => {
    accepted([
      ['/', '/', '/'],
      ['/signin/v2/identifier?a=%00', '/signin/v2/identifier', '/signin/v2/identifier'],
      ['/a%20b/%C3%A9', '/a%20b/%C3%A9', '/a b/é'],
      ['/a%2Fb%3Fc%23', '/a%2Fb%3Fc%23', '/a/b?c#'],
      ['/%2541', '/%2541', '/%41'],
      ['/a+b', '/a+b', '/a+b'],
      ['/é', '/é', '/é'],
      ['/%F0%9F%8E%89', '/%F0%9F%8E%89', '/🎉'],
      ['/a/../b/./c//', '/a/../b/./c//', '/a/../b/./c//'],
      ['/%2e%2e/x\\y', '/%2e%2e/x\\y', '/../x\\y'],
    ])
  })

  it('never reads a path as a host', () => {
    accepted([
      ['//host/path', '//host/path', '//host/path'],
      ['///', '///', '///'],
      ['/http://host/a', '/http://host/a', '/http://host/a'],
    ])
  })

  it('removes scheme and authority from an absolute target', () => {
    accepted([
      ['http://host/a/b?c=1', '/a/b', '/a/b'],
      ['HTTPS://user@host:8080/a', '/a', '/a'],
      ['http://[::1]:80/a', '/a', '/a'],
      ['http://host', '/', '/'],
      ['http://host?c=1', '/', '/'],
      ['http:///a', '/a', '/a'],
      ['http://host//a', '//a', '//a'],
      ['http://host/http://other/a', '/http://other/a', '/http://other/a'],
    ])
  })

  it('rejects a target that is not a path', () => {
    rejected(
      [
        '*',
        '',
        'news/list',
        'host:443',
        '?a=1',
        '/a#b',
        '/a?b#c',
        '#',
        'http:/a',
        '1http://host/a',
      ],
      'The request target is not a path',
    )
  })

  it('rejects a path that is not percent-encoded UTF-8', () => {
    rejected(
      ['/%', '/%2', '/%ZZ', '/a%2/b', '/%FF', '/%C3', '/%C3%28', '/%C0%AF', '/%ED%A0%80', '/é%E9'],
      'The path is not percent-encoded UTF-8',
    )
  })

  it('rejects control characters (C0, DEL and C1)', () => {
    rejected(
      [
        ...['/%00', '/%0a', '/a%0D%0Ab', '/%1B[31m', '/%1f', '/%7F', '/%C2%80', '/%C2%9F'],
        ...['/\0', '/a\nb', '/\x7f', '/\x85', '/\ud800\n'],
      ],
      'The path holds a control character',
    )
  })

  it('rejects lone surrogates', () => {
    rejected(['/\ud800', '/a\udc00b'], 'The path holds a lone surrogate')
  })

  it('leaves q undecoded if it rejects the target', () => {
    assert.equal(rewrite('/a%00?b', '').q, '/a%00')
    assert.equal(rewrite('/%ZZ', '').q, '/%ZZ')
  })

  it('removes a base path, in whole segments', () => {
    accepted(
      [
        ['/app', '/', '/'],
        ['/app?a=1', '/', '/'],
        ['/app/', '/', '/'],
        ['/app/news/a%20b', '/news/a%20b', '/news/a b'],
        ['/app//news', '//news', '//news'],
        ['/app/app', '/app', '/app'],
        ['http://host/app/news', '/news', '/news'],
      ],
      '/app',
    )
    accepted([['/a/b/c', '/c', '/c']], '/a/b')
  })

  it('finds no route outside the base path', () => {
    for (const target of ['/', '/application', '/appnews/list', '/APP/a', '/%61pp/a', '//app/a']) {
      const { path, q, rejection } = rewrite(target, '/app')
      assert.ok(rejection instanceof NoRouteError, target)
      assert.deepEqual([path, q], [target, target])
    }
  })

  it('rejects an invalid path inside the base path with a 400', () => {
    const { path, rejection } = rewrite('/app/%FF', '/app')
    assert.ok(rejection instanceof HttpError)
    assert.deepEqual([path, rejection.status], ['/%FF', 400])
  })
})
