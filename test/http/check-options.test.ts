import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it } from 'node:test'
import {
  createLogger,
  createMiddleware,
  createRequestListener,
  FrontController,
  HttpRequest,
  HttpResponse,
  nested,
  readJson,
  sameOrigin,
  serve,
  withPublicFiles,
} from '../../lib/index.ts'
import { createFolder } from '../support/folder.ts'

describe('The options of public functions', () => {
  it('have no unknown name', async (t) => {
    const front = new FrontController()
    const folder = createFolder(t)
    const request = new HttpRequest({ target: '/' })
    const wrong: object = { misspelt: undefined, typo: 1 }
    const functions: Record<string, () => unknown> = {
      FrontController: () => new FrontController(wrong),
      sameOrigin: () => sameOrigin(wrong),
      createLogger: () => createLogger({ stream: new Writable(), ...wrong }),
      createRequestListener: () => createRequestListener(front, wrong),
      headerLimits: () => createRequestListener(front, { headerLimits: wrong }),
      createMiddleware: () => createMiddleware(front, wrong),
      withPublicFiles: () => withPublicFiles(front, folder, wrong),
      forward: () => request.forward({ action: 'list', ...wrong }),
      urlFor: () => request.urlFor({}, wrong),
      cookies: () => new HttpResponse().cookies.set('a', 'b', wrong),
      nested: () => nested([], wrong),
      readJson: () => readJson(request, wrong),
      serve: () => serve(front, wrong),
    }
    for (const [name, run] of Object.entries(functions)) {
      const message = /^There is no "misspelt" or "typo" among the /
      await assert.rejects(async () => run(), { name: 'TypeError', message }, name)
    }
  })

  it('are checked for the limits of a request listener', () => {
    const front = new FrontController()
    for (const maxHeaderFields of [0, Number.NaN, '5' as unknown as number]) {
      assert.throws(() => createRequestListener(front, { headerLimits: { maxHeaderFields } }), {
        name: 'RangeError',
        message: /^Expected "maxHeaderFields" to be a whole number/,
      })
    }
  })
})
