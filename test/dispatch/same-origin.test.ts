import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sameOrigin } from '../../lib/dispatch/same-origin.ts'
import { HttpRequest } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'

const OWN = 'http://site.example'
const LISTED = 'https://admin.example'
const UNSAFE = ['POST', 'PUT', 'PATCH', 'DELETE']
const SAFE = ['GET', 'HEAD', 'OPTIONS']
const SITES = [undefined, 'same-origin', 'none', 'same-site', 'cross-site', '', 'Same-Origin, none']
const ORIGINS = [
  undefined,
  OWN,
  LISTED,
  'https://site.example',
  'http://site.example:8080',
  'http://sub.site.example',
  'http://site.example.evil.example',
  'http://SITE.example',
  'null',
  '',
]

describe('sameOrigin', () => {
  const front = createFront(
    {
      form: {
        save: (_: unknown, response: { text(text: string): void }) => response.text('saved'),
      },
    },
    { plugins: [sameOrigin({ origins: [LISTED] })] },
  )

  async function statusOf(
    method: string,
    headers: Record<string, string | undefined>,
  ): Promise<number> {
    const present = Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    const request = new HttpRequest({
      method,
      target: '/form/save',
      headers: Object.fromEntries([['host', 'site.example'], ...present]),
    })
    return (await front.handle(request)).status
  }

  for (const method of [...SAFE, ...UNSAFE]) {
    it(`decides ${method} by each combination of Sec-Fetch-Site and Origin`, async () => {
      for (const site of SITES) {
        for (const origin of ORIGINS) {
          const isSameSite = site === 'same-origin' || site === 'none'
          const isOwn = site === undefined && origin === OWN
          const passes = SAFE.includes(method) || isSameSite || isOwn || origin === LISTED
          const status = await statusOf(method, { 'sec-fetch-site': site, origin })
          assert.equal(status === 403, !passes, `${method} ${site} ${origin} ${status}`)
        }
      }
    })
  }

  it('compares the origin that a trusted proxy reports', async () => {
    const proxied = createFront(
      { form: { save() {} } },
      { plugins: [sameOrigin()], trustProxy: ['10.0.0.1'] },
    )
    const statusFrom = async (remoteAddress: string): Promise<number> => {
      const headers = {
        host: 'inner:3000',
        'x-forwarded-for': '192.0.2.1',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'site.example:443',
        origin: 'https://site.example',
      }
      const request = new HttpRequest({
        method: 'POST',
        target: '/form/save',
        headers,
        remoteAddress,
      })
      return (await proxied.handle(request)).status
    }
    assert.equal(await statusFrom('10.0.0.1'), 200)
    assert.equal(await statusFrom('10.0.0.2'), 403)
  })

  it('runs no action, and reads no form', async () => {
    let isRead = false
    const body = (async function* () {
      isRead = true
      yield 'a=1'
    })()
    const headers = { host: 'site.example', 'content-type': 'application/x-www-form-urlencoded' }
    const response = await front.handle(
      new HttpRequest({ method: 'POST', target: '/form/save', headers, body }),
    )
    assert.deepEqual([response.status, isRead], [403, false])
  })

  for (const [whose, requestOf] of [
    ['its own request', (request: HttpRequest) => request],
    ['the original request', ({ errorHandler }: HttpRequest) => errorHandler?.request],
  ] as const) {
    it(`rejects what the error action forwards from ${whose}`, async () => {
      let saved = 0
      const site = createFront(
        {
          form: {
            save() {
              saved++
            },
          },
          error: {
            error: (request: HttpRequest) =>
              requestOf(request)?.forward({ controller: 'form', action: 'save' }),
          },
        },
        { plugins: [sameOrigin()] },
      )
      const statusOf = async (method: string, origin: string): Promise<number> => {
        const headers = { host: 'site.example', origin }
        return (await site.handle(new HttpRequest({ method, target: '/nosuch', headers }))).status
      }
      assert.equal(await statusOf('POST', 'https://evil.example'), 403)
      assert.equal(saved, 0)
      assert.equal(await statusOf('POST', 'http://site.example'), 200)
      assert.equal(await statusOf('GET', 'https://evil.example'), 200)
      assert.equal(saved, 2)
    })
  }

  it('rejects what is no origin at construction', () => {
    for (const origin of [
      'https://admin.example/',
      'admin.example',
      'null',
      '',
      'https://ADMIN.example',
    ]) {
      assert.throws(() => sameOrigin({ origins: [origin] }), TypeError, origin)
    }
  })
})
