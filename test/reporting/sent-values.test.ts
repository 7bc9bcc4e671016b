import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FormBody } from '../../lib/http/body.ts'
import { HttpRequest, stateOf, withState } from '../../lib/http/request.ts'
import { scrub } from '../../lib/reporting/scrub.ts'
import { isName } from '../../lib/reporting/shape.ts'

const NAMES = { module: 'default', controller: 'news', action: 'list' }

interface Sent {
  readonly path?: string
  readonly search?: string
  readonly form?: string
  readonly json?: unknown
  readonly headers?: Record<string, string>
}

function requestOf({ path = '/news/list', search, form, json, headers }: Sent): HttpRequest {
  const request = withState(new HttpRequest({ target: `${path}?${search}`, headers }), {
    path,
    q: path,
    route: { ...NAMES, pairs: path.split('/').slice(3).join('/') },
    ...(form !== undefined && { form: new FormBody(Buffer.from(form)) }),
    settings: { maxBodyBytes: 1, trusted: new BlockList() },
  })
  if (json !== undefined) stateOf(request).message.json = Buffer.from(JSON.stringify(json))
  return request
}

// Where a request has values that its client may be unable to read.
const hidings: Record<string, (sent: Sent, value: string) => HttpRequest> = {
  session(sent, value) {
    const request = requestOf(sent)
    stateOf(request).message.hide({ user: { otp: value } })
    return request
  },
  proxy: (sent, value) => withHeader(sent, 'x-internal-user', value),
  cookie: (sent, value) => withHeader(sent, 'cookie', `lang=en; sid=${value}`),
  authorization: (sent, value) => withHeader(sent, 'authorization', `Bearer ${value}`),
  forward: (sent, value) => requestOf(sent).forward({ action: 'view', params: { otp: value } }),
}

function withHeader(sent: Sent, name: string, value: string): HttpRequest {
  return requestOf({ ...sent, headers: { ...sent.headers, [name]: value } })
}

// Where a client may send a text that is not searched for.
const shownPlaces: Record<string, (text: string) => Sent> = {
  path: (text) => ({ path: `/news/list/${text}/1` }),
  query: (text) => ({ search: `page=2&${text}=1` }),
  form: (text) => ({ form: `page=2&${text}=1` }),
  json: (text) => ({ json: { page: 2, list: [{ [text]: 1 }] } }),
  'content-type': (text) => ({ headers: { 'content-type': `${text}; charset=utf-8` } }),
  'user-agent': (text) => ({ headers: { 'user-agent': `Mozilla/5.0 (${text})` } }),
  'name of a header': (text) => ({ headers: { [text.toLowerCase()]: 'x' } }),
}

// Where a client may send a text that is searched for.
const maskedPlaces: Record<string, (text: string) => Sent> = {
  query: (text) => ({ search: `p=${text}` }),
  header: (text) => ({ headers: { 'x-foo': text } }),
  cookie: (text) => ({ headers: { cookie: `theme=${text}` } }),
}

// A text that looks like a name, and a value that has something in common with it.
const pairs = fc
  .stringMatching(/^[a-f]{0,6}[1-4]{1,4}$/)
  .filter((text) => text.length >= 4 && isName(text))
  .chain((text) =>
    fc.tuple(
      fc.constant(text),
      fc.constantFrom(
        text,
        `${text}77`,
        `q7${text}`,
        text.slice(0, 4),
        text.slice(-4),
        `${text}-${text}`,
        text.toUpperCase(),
      ),
    ),
  )

function other(value: string): string {
  return value.replace(/[a-z]/gi, 'y').replace(/\d/g, '8')
}

describe('The values of a request', () => {
  it('do not decide whether a text is shown that the client has sent', () => {
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [place, send] of Object.entries(shownPlaces)) {
        fc.assert(
          fc.property(pairs, ([text, value]) => {
            const shown = place === 'name of a header' ? text.toLowerCase() : text
            const message = `Unknown option: "${shown}", no ${shown}`
            const where = `${place}, ${hiding}: ${value}`
            assert.equal(scrub(message, hide(send(text), value)), message, where)
            assert.equal(scrub(message, hide(send(text), other(value))), message, where)
          }),
          { numRuns: 30 },
        )
      }
    }
  })

  it('do not decide under which label a text is masked that the client has sent', () => {
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [place, send] of Object.entries(maskedPlaces)) {
        // Two values of one cookie have one label.
        if (place === 'cookie' && hiding === 'cookie') continue
        fc.assert(
          fc.property(pairs, ([text, value]) => {
            const scrubbed = (hidden: string): string =>
              scrub(`Invalid option: "${text}"`, hide(send(text), hidden))
            assert.equal(scrubbed(value), scrubbed(other(value)), `${place}, ${hiding}: ${value}`)
          }),
          { numRuns: 30 },
        )
      }
    }
  })

  it('do not decide whether the budget of the search suffices', () => {
    const search = Array.from({ length: 200 }, (_, i) => `a=${1_000 + i}`).join('&')
    for (const [hiding, hide] of Object.entries(hidings)) {
      const results = new Set<string>()
      for (let length = 8_000; length < 12_000; length += 30) {
        const sent = { search: `${search}&b=${'z'.repeat(length)}`, headers: { 'x-foo': '1077' } }
        const [same, different] = ['1077', '5077'].map((value) =>
          scrub('The article is sold', hide(sent, value)),
        )
        assert.equal(same, different, `${hiding}, ${length}`)
        results.add(String(same))
      }
      assert.deepEqual([...results], ['The article is sold', '[list(4)]'], hiding)
    }
  })

  it('are not shown because the client guesses a part of them', () => {
    const value = '4821-5063-9977'
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [place, send] of Object.entries({ ...shownPlaces, ...maskedPlaces })) {
        const scrubbed = (sent: Sent): string => scrub(`No account ${value}`, hide(sent, value))
        assert.equal(scrubbed(send('4821')), scrubbed({}), `${hiding}, ${place}`)
        assert.equal(scrubbed(send('5063')), scrubbed({}), `${hiding}, ${place}`)
      }
    }
  })

  it('are masked where the application quotes them', () => {
    for (const [hiding, hide] of Object.entries(hidings)) {
      const request = hide({ search: 'page=2', headers: { accept: 'text/html' } }, 'k7w2p')
      assert.match(scrub('no k7w2p', request), /^no \[[a-z]+\]$/, hiding)
    }
  })
})
