import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest, stateOf, withState } from '../../lib/http/request.ts'
import { kindOfSignIn, recognizeSignIn } from '../../lib/reporting/sign-in-hint.ts'

const NOT_FOUND = { exceptions: [], status: 404 }

const HINTS = {
  callback:
    'The provider sends its users back to this path: register a controller for it, or correct the redirect_uri',
  redirect: 'The redirect_uri names a path of this service that no controller serves',
  page: 'This path is a page of the identity provider: a proxy or a relative link sent its user here',
  endpoint:
    "The authorization endpoint seems to be set to this service; it is the identity provider's",
}
const own = 'redirect_uri=https%3A%2F%2Fa.example%2Felp%2Foauth.php%3Fprovider%3Dx'
const foreign = 'redirect_uri=https%3A%2F%2Fother.example%2Felp%2Foauth.php'

function recognize(search: string, host?: string, served: string[] = []) {
  const sent = new HttpRequest({ target: `/signin/v2?${search}`, headers: { host } })
  const hasController = ({ pathname }: URL): boolean => served.includes(pathname)
  const request = withState(sent, { settings: { ...stateOf(sent).settings, hasController } })
  const signIn = recognizeSignIn({ ...NOT_FOUND, request })
  assert.equal(kindOfSignIn(request), signIn?.looksLike)
  return signIn
}

describe('recognizeSignIn()', () => {
  it('recognizes an unrouted request by the names of its parameters', () => {
    const table: [string, string | undefined, string?][] = [
      ['code=1&state=2', 'callback', HINTS.callback],
      ['error=access_denied&state=2', 'callback', HINTS.callback],
      ['code=&state=', 'callback', HINTS.callback],
      [`code=1&state=2&client_id=3&dsh=4&continue=5&${own}`, 'callback', HINTS.callback],
      ['code=1', undefined],
      ['state=1', undefined],
      ['error=1&code=1', undefined],
      ['client_id=1&response_type=code', 'authorization request', HINTS.endpoint],
      ['client_id=1&redirect_uri=x', 'authorization request', HINTS.endpoint],
      ['client_id=1&state=2&response_type=code', 'authorization request', HINTS.endpoint],
      ['client_id=1', undefined],
      ['response_type=code&redirect_uri=x', undefined],
      ['dsh=1&continue=2', 'provider page', HINTS.page],
      ['flowName=1&flowEntry=2', 'provider page', HINTS.page],
      ['ddm=1&o2v=2', 'provider page', HINTS.page],
      ['opparams=1&rart=2', 'provider page', HINTS.page],
      ['signInUrl=1&dsh=', 'provider page', HINTS.page],
      ['client_id=1&response_type=code&dsh=1&rart=2', 'provider page', HINTS.page],
      ['dsh=1', undefined],
      ['continue=1&continue=2', undefined],
      ['scope=1&theme=2&service=3&app_domain=4', undefined],
      ['', undefined],
    ]
    for (const [search, looksLike, hint] of table) {
      assert.deepEqual(recognize(search), looksLike && { looksLike, hint }, search)
    }
  })

  it('finds the parameters in the path and in a form too', () => {
    const pairs = new HttpRequest({ target: '/x/y/code/1/state/2' })
    assert.equal(recognizeSignIn({ ...NOT_FOUND, request: pairs }), undefined)
    const request = new HttpRequest({ target: '/x/y?code=1' }).forward({
      action: 'y',
      params: { state: '2' },
    })
    const signIn = recognizeSignIn({ ...NOT_FOUND, request })
    assert.equal(signIn?.looksLike, 'callback')
  })

  it('recognizes no request that an action has served, nor one with another status', () => {
    const request = new HttpRequest({ target: '/shop/redeem?code=1&state=2' })
    const settings = { ...stateOf(request).settings, nameRoute: () => 'shop/redeem' }
    const served = withState(request, { settings })
    assert.equal(recognizeSignIn({ ...NOT_FOUND, request: served }), undefined)
    assert.equal(recognizeSignIn({ ...NOT_FOUND, status: 500, request }), undefined)
  })

  it('reports a redirect_uri that is a path of this service without a controller', () => {
    const sign = 'client_id=1&response_type=code'
    const page = 'dsh=1&continue=2'
    const [path] = ['/elp/oauth.php']
    const long = 'é'.repeat(256)
    const table: [string, string | undefined, string[], string][] = [
      [`${sign}&${own}`, 'a.example', [], HINTS.redirect],
      [`${sign}&${own}`, 'a.example', [path], HINTS.endpoint],
      [`${sign}&${foreign}`, 'a.example', [], HINTS.endpoint],
      [`${sign}&${own}`, undefined, [], HINTS.endpoint],
      [`${sign}&${own}`, 'a.example:8443', [], HINTS.endpoint],
      [`${sign}&redirect_uri=%2Felp%2Foauth.php`, 'a.example', [], HINTS.endpoint],
      [`${page}&${own}`, 'a.example', [], HINTS.redirect],
      [`${page}&${own}`, 'a.example', [path], HINTS.page],
      [`${page}&${foreign}`, 'a.example', [], HINTS.page],
      // Behind a proxy the header may say anything: app_domain is the origin by SPEC section 1.
      [`${page}&${own}&app_domain=https%3A%2F%2Fa.example`, '10.0.0.1', [], HINTS.redirect],
      [`${page}&${own}&app_domain=https%3A%2F%2Fb.example`, 'a.example', [], HINTS.page],
      [`${page}&${own}&app_domain=nonsense`, 'a.example', [], HINTS.redirect],
      // To route a long path takes time.
      [`${page}&${own}${'x'.repeat(7_000)}`, 'a.example', [], HINTS.redirect],
      [`${page}&redirect_uri=http://a.example/${'x'.repeat(500)}`, 'a.example', [], HINTS.page],
      // The time to parse a host grows with the square of its length, so a long one is not parsed.
      [`${page}&redirect_uri=http://${long}/&app_domain=http://${long}`, 'x', [], HINTS.page],
    ]
    for (const [search, host, served, hint] of table) {
      assert.equal(recognize(search, host, served)?.hint, hint, `${search} at ${host}`)
    }
  })

  it('contains no value', () => {
    const names = ['code', 'state', 'client_id', 'dsh', 'continue', 'redirect_uri', 'app_domain']
    for (const skipped of names) {
      const search = names
        .filter((name) => name !== skipped)
        .map((name) => `${name}=https://CANARY/`)
      assert.doesNotMatch(JSON.stringify(recognize(search.join('&'), 'CANARY') ?? ''), /CANARY/i)
    }
  })
})
