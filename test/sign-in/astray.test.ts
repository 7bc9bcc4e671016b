import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startHostileProvider } from '../support/hostile-provider.ts'
import {
  ADDRESS,
  type App,
  beginning,
  depart,
  goBack,
  ORIGIN,
  startApp,
  startHostileApp,
} from '../support/sign-in.ts'

const PROVIDER_PAGE = { dsh: 'S-123:456', flowName: 'GeneralOAuthFlow', o2v: '2' }

describe('The error page of a sign-in', () => {
  it('offers a link that begins anew with the same provider', async (t) => {
    const { browser } = await startApp(t, await twoProviders(t))
    const client = browser()
    const back = await depart(client, beginning('second'))
    back.searchParams.set('state', 'A'.repeat(43))
    const page = await goBack(client, back)
    assert.equal(page.status, 400)
    assert.deepEqual(linksOf(page.body), ['/elp/oauth.php?provider=second'])
    const anew = await client.send(`${ORIGIN}${linksOf(page.body)[0]}`)
    assert.equal(anew.status, 303)
  })

  it('offers the first provider if that of the request is not configured', async (t) => {
    const { browser } = await startApp(t, await twoProviders(t))
    for (const target of [ADDRESS, beginning('nobody'), beginning('"><script>')]) {
      const page = await browser().send(target)
      assert.equal(page.status, 404)
      assert.deepEqual(linksOf(page.body), ['/elp/oauth.php?provider=first'])
    }
  })

  it('offers the link in JSON too', async (t) => {
    const { browser } = await startHostileApp(t)
    const headers = { accept: 'application/problem+json' }
    const page = await browser().send(beginning('nobody'), { headers })
    assert.equal(page.headers['content-type'], 'application/problem+json')
    assert.match(page.body, /"\/elp\/oauth\.php\?provider=hostile"/)
  })

  it('has no link for an error of another controller', async (t) => {
    const { browser } = await startHostileApp(t)
    for (const path of ['/nobody/here', '/index/nothing', '/nobody?provider=hostile']) {
      const page = await browser().send(`${ORIGIN}${path}`)
      assert.equal(page.status, 404)
      assert.deepEqual(linksOf(page.body), [], path)
    }
  })
})

describe('A page of the provider that arrives here', () => {
  it('is a 404 with a link to the sign-in that its redirect_uri names', async (t) => {
    const { browser } = await startApp(t, await twoProviders(t))
    const page = await astray(browser, { redirect_uri: `${ADDRESS}?provider=second` })
    assert.equal(page.status, 404)
    assert.deepEqual(linksOf(page.body), ['/elp/oauth.php?provider=second'])
  })

  it('has no link unless origin, path and provider are those of the application', async (t) => {
    const { browser } = await startApp(t, await twoProviders(t))
    const others = [
      `https://evil.example/elp/oauth.php?provider=second`,
      `http://news.example/elp/oauth.php?provider=second`,
      `https://news.example:444/elp/oauth.php?provider=second`,
      `https://news.example.evil.example/elp/oauth.php?provider=second`,
      `https://news.example@evil.example/elp/oauth.php?provider=second`,
      `//news.example/elp/oauth.php?provider=second`,
      `${ORIGIN}/elp/other.php?provider=second`,
      `${ORIGIN}/elp/oauth.php/?provider=second`,
      `${ORIGIN}/?provider=second`,
      `${ADDRESS}?provider=nobody`,
      `${ADDRESS}?provider=constructor`,
      `${ADDRESS}?provider=__proto__`,
      `${ADDRESS}?provider=`,
      ADDRESS,
      'javascript:alert(1)',
      '',
    ]
    for (const redirect_uri of others) {
      const page = await astray(browser, { redirect_uri })
      assert.equal(page.status, 404)
      assert.deepEqual(linksOf(page.body), [], redirect_uri)
    }
    const other = await browser().send(
      `${ORIGIN}/signin?redirect_uri=${encodeURIComponent(`${ADDRESS}?provider=second`)}`,
    )
    assert.deepEqual(linksOf(other.body), [])
  })

  it('has a link with nothing of the request', async (t) => {
    const { browser } = await startApp(t, await twoProviders(t))
    const redirect_uri = `${ADDRESS}?provider=second&code=canary&continue=%2Fcanary#canary`
    const page = await astray(browser, { redirect_uri, continue: '/canary', state: 'canary' })
    assert.deepEqual(
      linksOf(page.body).filter((href) => href !== '/elp/oauth.php?provider=second'),
      [],
    )
    assert.doesNotMatch(page.body, /canary/)
  })
})

async function twoProviders(t: Parameters<typeof startHostileProvider>[0]) {
  const { options } = await startHostileProvider(t)
  return { providers: { first: options, second: options } }
}

function astray(browser: App['browser'], parameters: Record<string, string>) {
  const query = new URLSearchParams({ ...PROVIDER_PAGE, ...parameters })
  return browser().send(`${ORIGIN}/signin/oauth/id?${query}`)
}

function linksOf(page: string): string[] {
  return [...page.matchAll(/<a\b[^>]*href="([^"]*)"/g)].map(([, href = '']) => href)
}
