import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Chromium, noChromium, type Tab } from '../support/chromium.ts'
import { type SignInExample, startSignInExample } from '../support/sign-in-example.ts'

// Real redirects, cookies, Sec-Fetch headers and history. The application is examples/sign-in.
describe('A sign-in in Chromium', { skip: noChromium }, () => {
  it('leads from a guarded page to the provider, and back to that page', async (t) => {
    const { origin, provider, tab } = await start(t)
    await tab.open(`${origin}/account?tab=orders&q=%C3%A4`)
    assert.equal(new URL(await tab.url()).origin, provider.issuer)
    await consent(tab)
    assert.equal(await tab.url(), `${origin}/account?tab=orders&q=%C3%A4`)
    assert.match(await tab.text(), /"subject":"ada"/)
    await tab.reload()
    assert.match(await tab.text(), /"subject":"ada"/)
  })

  it('leaves one cookie that no script reads', async (t) => {
    const { origin, tab } = await start(t)
    await signIn(tab, `${origin}/account`)
    const [cookie, ...others] = await tab.cookies()
    assert.deepEqual(others, [])
    assert.deepEqual(
      [cookie?.name, cookie?.httpOnly, cookie?.sameSite, cookie?.path],
      ['sign-in.session', true, 'Lax', '/'],
    )
    assert.equal(await tab.evaluate('document.cookie'), '')
  })

  it('ends with the sign-out, and the back button shows no guarded page', async (t) => {
    const { origin, provider, tab } = await start(t)
    await signIn(tab, `${origin}/account`)
    await tab.open(`${origin}/`)
    await tab.click('button')
    assert.equal(await tab.url(), `${origin}/`)
    assert.match(await tab.text(), /Sign in/)
    assert.deepEqual(await tab.cookies(), [])
    // The provider would sign the user in again at once.
    await tab.forget(provider.issuer)
    while (!(await tab.url()).startsWith(provider.issuer)) {
      assert.doesNotMatch(await tab.text(), /Hello|subject/)
      await tab.go(-1)
    }
  })

  it('survives the back button and the forward button', async (t) => {
    const { origin, provider, tab } = await start(t)
    await tab.open(`${origin}/`)
    await tab.click('a')
    await consent(tab)
    assert.match(await tab.text(), /Hello Ada/)
    await tab.go(-1)
    assert.equal(new URL(await tab.url()).origin, provider.issuer)
    await tab.go(1)
    assert.match(await tab.text(), /Hello Ada/)
    await tab.go(-1)
    await tab.open(`${origin}/account`)
    assert.match(await tab.text(), /"subject":"ada"/)
  })

  it('works in two tabs at once, in either order', async (t) => {
    const { chromium, origin, tab: first } = await start(t)
    const second = await chromium.newTab()
    await first.open(`${origin}/account?tab=1`)
    await second.open(`${origin}/account?tab=2`)
    await consent(second)
    assert.equal(await second.url(), `${origin}/account?tab=2`)
    await consent(first)
    assert.equal(await first.url(), `${origin}/account?tab=1`)
    for (const tab of [first, second]) assert.match(await tab.text(), /"subject":"ada"/)
  })

  it('shows an error with a link when the address of the return is opened again', async (t) => {
    const { origin, tab } = await start(t)
    await signIn(tab, `${origin}/account`)
    const [address = ''] = tab.requested.filter((url) => url.includes('code='))
    assert.ok(address.startsWith(`${origin}/elp/oauth.php?provider=google&`))
    await tab.open(address)
    assert.match(await tab.text(), /400/)
    await tab.reload()
    assert.match(await tab.text(), /400/)
    const [session, ...others] = await tab.cookies()
    assert.deepEqual([session?.name, others], ['sign-in.session', []])
    await tab.click('a')
    assert.equal(await tab.url(), `${origin}/`)
    assert.match(await tab.text(), /Hello Ada/)
  })

  it('is not begun by a script, which gets a 401', async (t) => {
    const { origin, tab } = await start(t)
    await tab.open(`${origin}/`)
    const status = "fetch('/account').then(({ status }) => status)"
    assert.equal(await tab.evaluate(status), 401)
    assert.deepEqual(await tab.cookies(), [])
    await signIn(tab, `${origin}/account`)
    assert.equal(await tab.evaluate(status), 200)
  })

  it('begins anew after the user has refused', async (t) => {
    const { origin, provider, tab } = await start(t)
    provider.decision = 'deny'
    await tab.open(`${origin}/account`)
    await tab.click('button')
    assert.match(await tab.text(), /403/)
    assert.deepEqual(await tab.cookies(), [])
    provider.decision = 'allow'
    await tab.click('a')
    await consent(tab)
    assert.match(await tab.text(), /Hello Ada/)
  })

  it('is not ended by another site, and survives a link from there', async (t) => {
    const { origin, provider, tab } = await start(t)
    await signIn(tab, `${origin}/account`)
    await tab.open(`${provider.issuer}/interaction/any`)
    await tab.leave(`
      const form = document.createElement('form')
      form.method = 'post'
      form.action = '${origin}/elp/sign-out'
      document.body.append(form)
      form.submit()`)
    assert.match(await tab.text(), /403/)
    await tab.open(`${provider.issuer}/interaction/any`)
    await tab.leave(`location = '${origin}/account'`)
    assert.match(await tab.text(), /"subject":"ada"/)
  })
})

interface Started extends SignInExample {
  readonly chromium: Chromium
  readonly tab: Tab
}

async function start(t: TestContext): Promise<Started> {
  const example = await startSignInExample(t, { pages: true })
  const chromium = Chromium.start(t)
  return { ...example, chromium, tab: await chromium.newTab() }
}

async function signIn(tab: Tab, url: string): Promise<void> {
  await tab.open(url)
  await consent(tab)
}

/** Presses the buttons on the two pages of the provider: the sign-in, and the consent. */
async function consent(tab: Tab): Promise<void> {
  while (/\/interaction\//.test(await tab.url())) await tab.click('button')
}
