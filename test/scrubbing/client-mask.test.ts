import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FormBody } from '../../lib/http/body.ts'
import { HttpRequest, stateOf, withState } from '../../lib/http/request.ts'
import { knownWords } from '../../lib/scrubbing/known-words.ts'
import { scrubTexts } from '../../lib/scrubbing/scrub.ts'
import { isName } from '../../lib/scrubbing/shape.ts'

const NAMES = { module: 'default', controller: 'news', action: 'list' }

interface Sent {
  readonly path?: string
  readonly search?: string
  readonly form?: string
  readonly json?: unknown
  readonly headers?: Record<string, string>
}

function requestOf({ path = '/news/list', search = '', form, json, headers }: Sent): HttpRequest {
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
  .stringMatching(/^[a-f]{0,6}[1-4]{0,4}$/)
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

// Returns a text as the client of the request reads it.
function toClient(text: string, request: HttpRequest): string {
  return scrubTexts([text], request, [text]).clientTexts[0] ?? assert.fail()
}

function other(value: string): string {
  return value.replace(/[a-z]/gi, 'y').replace(/\d/g, '8')
}

// Returns the length of the longest header with which a message is still searched.
function longestSearched(
  message: string,
  hide: (sent: Sent) => HttpRequest,
  sent: Sent,
  cause = '',
): number {
  let [searched, tooLong] = [0, 40_000]
  while (tooLong - searched > 1) {
    const length = Math.floor((searched + tooLong) / 2)
    const headers = { ...sent.headers, 'x-fill': 'z'.repeat(length) }
    const request = hide({ ...sent, headers })
    const [shown] = scrubTexts([message, cause], request, [message]).clientTexts
    if (shown !== undefined) searched = length
    else tooLong = length
  }
  assert.ok(searched > 0)
  return searched
}

describe('The hidden values of a request', () => {
  it('do not decide whether a text is shown that the client has sent', () => {
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [place, send] of Object.entries(shownPlaces)) {
        fc.assert(
          fc.property(pairs, ([text, value]) => {
            const shown = place === 'name of a header' ? text.toLowerCase() : text
            const message = `Unknown option: "${shown}", no ${shown}`
            const where = `${place}, ${hiding}: ${value}`
            assert.equal(toClient(message, hide(send(text), value)), message, where)
            assert.equal(toClient(message, hide(send(text), other(value))), message, where)
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
            const scrubbed = (hidden: string) =>
              toClient(`Invalid option: "${text}"`, hide(send(text), hidden))
            assert.equal(scrubbed(value), scrubbed(other(value)), `${place}, ${hiding}: ${value}`)
          }),
          { numRuns: 30 },
        )
      }
    }
  })

  it('do not decide whether the budget of the search suffices', () => {
    const search = Array.from({ length: 100 }, (_, i) => `a=${1_000 + i}`).join('&')
    const text = Array.from({ length: 400 }, (_, i) => `x${1_000 + i}`).join('')
    const table: [Sent, message: string][] = [
      [{ search }, 'The article is sold'],
      [{ search: `id=${text}` }, `No ${text}`],
      [{ headers: { 'x-foo': '1077' } }, 'The article is sold'],
    ]
    for (const [sent, message] of table) {
      for (const [hiding, hide] of Object.entries(hidings)) {
        const [same, different] = ['1077', '5077'].map((value) =>
          longestSearched(message, (sent) => hide(sent, value), sent),
        )
        assert.equal(same, different, `${hiding}: ${message}`)
      }
    }
  })

  it('cost as much if a text has them that the client does not read', () => {
    const cause = Array.from({ length: 200 }, (_, i) => `k${1_000 + i}`).join(' ')
    const hide = (sent: Sent, value: string): HttpRequest =>
      requestOf({ ...sent, search: `guess=${value}` })
    const [same, different] = ['1077', '5077'].map((value) =>
      longestSearched('The article is sold', (sent) => hide(sent, value), {}, cause),
    )
    assert.equal(same, different)
  })

  it('cost as much if two of one header or of one session are equal', () => {
    const table: ((sent: Sent, value: string) => HttpRequest)[] = [
      (sent, value) => withHeader(sent, 'cookie', `a=9001.${value}.9003; pin=4711`),
      (sent, value) => withHeader(sent, 'x-forwarded-for', `${value}, 4711`),
      (sent, value) => {
        const request = requestOf(sent)
        stateOf(request).message.hide({ search: `${value} 9002`, pin: '4711' })
        return request
      },
    ]
    for (const hide of table) {
      const [same, different] = ['4711', '4712'].map((value) =>
        longestSearched('The article is sold', (sent) => hide(sent, value), {}),
      )
      assert.equal(same, different)
    }
  })

  it('are not shown because the client guesses a part of them', () => {
    const value = '4821-5063-9977'
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [place, send] of Object.entries({ ...shownPlaces, ...maskedPlaces })) {
        const scrubbed = (sent: Sent) => toClient(`No account ${value}`, hide(sent, value))
        assert.equal(scrubbed(send('4821')), scrubbed({}), `${hiding}, ${place}`)
        assert.equal(scrubbed(send('5063')), scrubbed({}), `${hiding}, ${place}`)
      }
    }
  })

  it('are not shown because a part of them is in a header, or in another text that the client has sent', () => {
    const headers = {
      host: 'localhost:3000',
      'content-length': '1024',
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36',
    }
    for (const value of [
      '13000',
      '102400',
      '4539537366009911',
      'k7Win64p',
      'alice.quaife@corp.example',
    ]) {
      for (const [hiding, hide] of Object.entries(hidings)) {
        const search = `a=.quaife@corp.example&b=${value.slice(1)}&c=${value.slice(0, -1)}`
        const message = `The balance is ${value} today`
        const text = toClient(message, hide({ search, headers }, value))
        if (value.length < 8) assert.match(text, /^The balance is \[[a-z]+\] today$/, hiding)
        else assert.ok(text === knownWords(message) || text === 'The balance is [c] today', text)
      }
    }
  })

  it('are not shown because each of their words is somewhere in what the client has sent', () => {
    const headers = { 'user-agent': '17 05 1984 203 77 0 113 171 679 7943' }
    for (const value of ['1984-05-17', '203.0.113.77', '171 7943 679']) {
      for (const [hiding, hide] of Object.entries(hidings)) {
        // A header has more than the value.
        if (hiding === 'authorization') continue
        const message = `No ${value} here`
        assert.equal(toClient(message, hide({ headers }, value)), knownWords(message), hiding)
      }
    }
  })

  it('do not decide what is shown in a word that has a text of the client', () => {
    const table: [Sent, shown: string][] = [
      [{ search: 'w=4711' }, 'Width[w]px'],
      [{ headers: { 'user-agent': '4711' } }, 'Width4711px'],
      [{ search: '4711' }, 'Width4711px'],
    ]
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [sent, shown] of table) {
        for (const hidden of ['4711', '5822'])
          assert.equal(toClient('Width4711px', hide(sent, hidden)), shown, `${hiding}: ${shown}`)
      }
    }
  })

  it('do not decide what is shown between two texts that the client has sent', () => {
    const table: [Sent, string, string][] = [
      [{ search: 'user=alice' }, 'user=alice', 'user=[user]'],
      [{ search: 'pin=1234' }, 'pin=1234', 'pin=[pin]'],
      [{ search: 'n=user&v=alice' }, 'user=alice', '[n]=[v]'],
      [{ search: 'a=John&b=Smith' }, 'John Smith', '[a] [b]'],
      [{ search: 'alice&smith' }, 'alice, smith', 'alice, smith'],
      [{ json: { pin: 1234 } }, '{"pin":1234}', '{"pin":[pin]}'],
      [{ headers: { host: 'alice.shop.example' } }, 'alice', 'alice'],
      [{ headers: { 'content-type': 'image/alice' } }, 'alice', 'alice'],
      [{ search: 'p=alice%40corp.example' }, 'alice', 'alice'],
      [{ search: 'a=0x4d2' }, '1234', '[a]'],
      [{ headers: { 'user-agent': 'x\u00a1alice' } }, 'alice', 'alice'],
      [{ search: 'z4711=4711' }, 'z4711', 'z[z4711]'],
      [{ search: 'b=4711', headers: { 'user-agent': 'z\u03014711' } }, 'z\u03014711', 'z\u0301[b]'],
    ]
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [sent, value, shown] of table) {
        for (const hidden of [value, other(value)])
          assert.equal(
            toClient(`Nothing: ${value}`, hide(sent, hidden)),
            `Nothing: ${shown}`,
            hiding,
          )
      }
    }
  })

  it('are masked where the application quotes all of them, or most of a word, except short ones', () => {
    for (const [hiding, hide] of Object.entries(hidings)) {
      const sent: Sent = { search: 'page=2', headers: { accept: 'text/html' } }
      for (const [value, ...quoted] of [
        ['k7w2p-q8x3r-z9y4t', 'k7w2p-q8x3r-z9y4t', 'k7w2p%2dq8x3r%2dz9y4t'],
        ['{"name":"Ann Lee Ray"}', 'Ann Lee Ray'],
        ['Sales EU West; HR Top 12', 'HR Top 12'],
        [
          'Kq7xZ9vT2mWpL4sBd8Yh',
          'Kq7xZ9vT2mWpL4sBd8Yh',
          'Kq7xZ9vT2mWpL4sBd',
          '7xZ9vT2mWpL4sBd8Yh x',
        ],
      ] as const) {
        for (const text of quoted)
          assert.equal(toClient(`no ${text}`, hide(sent, value)), knownWords(`no ${text}`), hiding)
      }
      assert.equal(toClient('no k7w2p-q8', hide({}, 'k7w2p-q8x3r-z9y4t')), 'no k7w2p-q8', hiding)
      assert.equal(toClient('no k7w2p', hide({}, 'k7w2p')), 'no k7w2p', hiding)
    }
  })

  it('are masked for those who operate the server, also if the client has sent them', () => {
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [place, send] of Object.entries(shownPlaces)) {
        for (const value of ['anna.mueller', 'k7w2p']) {
          const request = hide(send(value), value)
          const [text = ''] = scrubTexts([`Seat "${value}"`], request, []).texts
          assert.match(text, /^Seat "\[\w+\]"$/, `${hiding}, ${place}`)
        }
      }
    }
  })

  it('do not decide whether a text is shown that the client has sent with escapes, as it sent them', () => {
    const places: Record<string, (text: string) => Sent> = {
      target: (text) => ({ search: `${text}=1` }),
      form: (text) => ({ form: `${text}=1` }),
      json: (text) => ({ json: { [text]: 1 } }),
      host: (text) => ({ headers: { host: text } }),
      'content-type': (text) => ({ headers: { 'content-type': text } }),
    }
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [place, send] of Object.entries(places)) {
        for (const [text, value] of [
          ['0%8083072', '08083072'],
          ['%B95567034', '15567034'],
          ['a%FCb1234567', 'aüb1234567'],
          ['4539%2D1488', '45391488'],
        ] as const) {
          const shown = (hidden: string): string =>
            toClient(`Unknown: ${text}`, hide(send(text), hidden))
          assert.equal(shown(value), shown(other(value)), `${hiding}, ${place}: ${text}`)
        }
      }
    }
  })

  it('do not decide which masks stand beside one that the application quotes', () => {
    const table: ((guess: string) => Sent)[] = [
      (guess) => ({ search: `a=oucher+${guess}&b=${guess}+has+e` }),
      (guess) => ({ search: `a=${guess}` }),
      (guess) => ({ headers: { 'x-guess': `oucher ${guess}, ${guess} has e` } }),
      (guess) => ({ headers: { 'user-agent': `oucher ${guess} has e` } }),
    ]
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const send of table) {
        for (const guess of ['2', '268', '26868', '9', '719', '8719', '3', '369']) {
          const message = 'The voucher 26868719 has expired'
          const shown = toClient(message, hide(send(guess), '26868719'))
          assert.equal(shown, knownWords(message), `${hiding}: ${guess}`)
        }
      }
    }
  })

  it('are masked where the application quotes one that consists of numbers or short words of the client', () => {
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const value of ['26868719', '177816975218']) {
        const search = (value.match(/.{4}/g) ?? []).map((part, i) => `p${i}=${part}`).join('&')
        const message = `Voucher ${value} has expired`
        assert.equal(toClient(message, hide({ search }, value)), knownWords(message), hiding)
      }
    }
  })

  it('are masked where the application quotes one that is longer than what is searched of the message', () => {
    const token = Array.from({ length: 350 }, (_, i) => (i * 37 + 4_096).toString(16)).join('')
    for (const [hiding, hide] of Object.entries(hidings))
      assert.match(toClient(`no ${token}`, hide({}, token)), /^no(?: token|\.\.\.)/, hiding)
  })

  it('are masked where the end of what is searched of an issue cuts one', () => {
    const long = Array.from({ length: 110 }, (_, i) => (i * 37 + 4_096).toString(16)).join('')
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const value of [long.slice(0, 128), long]) {
        const request = hide({}, value)
        for (let length = 1; length < 190; length += 9) {
          const issues = [`"${'-'.repeat(length)}" is not ${value}`, 'Required']
          const [shown = ''] = scrubTexts(issues, request, issues).clientTexts
          assert.equal(shown, knownWords(issues[0]?.slice(0, 200) ?? ''), `${hiding} ${length}`)
        }
      }
    }
  })

  it('do not decide what is shown of a text that code has calculated or changed, unless it has most of one', () => {
    const table: [value: string, text: string][] = [
      ['2839', 'tags.2839'],
      ['9172', 'at most 200, but got 9172'],
      ['margaretha.hamilton@apollo.example', 'texts.margaret.x'],
      ['ed17e50b42a98c1d', 'No article ed17e50b42'],
    ]
    for (const [hiding, hide] of Object.entries(hidings)) {
      for (const [value, text] of table) assert.equal(toClient(text, hide({}, value)), text, hiding)
    }
  })

  it('do not decide whether a part of them is masked beside other values of the same field', () => {
    for (const guess of ['ed17e50b', 'ed17e50c']) {
      const cookie = `theme=${'a'.repeat(40)}ed17e50b; sid=ed17e50b42a98c1d`
      assert.equal(toClient(`No ${guess}`, requestOf({ headers: { cookie } })), `No ${guess}`)
    }
    // Even if the text has more than enough of another value.
    const known = Array.from({ length: 100 }, (_, i) => (i * 37 + 4_096).toString(16)).join('')
    for (const guess of ['ed17e50b', 'ed17e50c']) {
      const cookie = `theme=${known}; sid=ed17e50b42a98c1d`
      const request = requestOf({ headers: { cookie } })
      assert.equal(toClient(`No ${guess} ${known}`, request), 'No token(8) token(400)')
    }
  })
})
