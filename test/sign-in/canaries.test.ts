import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { HttpError, type HttpRequest, type HttpResponse, type Plugin } from '../../lib/index.ts'
import type { SignInOptions } from '../../lib/sign-in.ts'
import type { Page } from '../support/browser.ts'
import {
  DESCRIPTION,
  type Faults,
  type HostileProvider,
  type Json,
  person,
  sendJson,
} from '../support/hostile-provider.ts'
import {
  type App,
  beginning,
  cookieNames,
  depart,
  goBack,
  type HostileApp,
  ORIGIN,
  startHostileApp,
} from '../support/sign-in.ts'

type Step = [Faults, Partial<SignInOptions>?]

/** An error response that contains what the provider received and sent. */
const talkative = (usual: Json) => (response: ServerResponse) => {
  response.setHeader('WWW-Authenticate', `Bearer error_description="${DESCRIPTION}"`)
  sendJson(response, 400, { ...usual, ...person, error: 'x', error_description: DESCRIPTION })
}
const denied = (error: string) => (each: URLSearchParams) => {
  each.delete('code')
  each.set('error', error)
  each.set('error_description', DESCRIPTION)
}
const garbled = (usual: Json) => (response: ServerResponse) =>
  void response
    .writeHead(200, { 'Content-Type': 'application/json' })
    .end(JSON.stringify(usual).slice(0, -1))
const set = (changes: Json) => (usual: Json) => ({ ...usual, ...changes })

/** Every step, made to fail. */
const steps: Record<string, Step> = {
  'the document is an error': [{ discovery: talkative }],
  'the document is another one': [{ discovery: set({ issuer: DESCRIPTION }) }],
  'the document is garbled': [{ discovery: garbled }],
  'the document has a wrong endpoint': [{ discovery: set({ token_endpoint: DESCRIPTION }) }],
  'the user denies': [{ callback: denied('access_denied') }],
  'the provider reports an error': [{ callback: denied('server_error') }],
  'the provider reports an error of its own': [{ callback: denied(DESCRIPTION) }],
  'the state is another one': [{ callback: (each) => each.set('state', `${each.get('state')}A`) }],
  'the state is missing': [{ callback: (each) => each.delete('state') }],
  'the state is there twice': [
    { callback: (each) => each.append('state', each.get('state') ?? '') },
  ],
  'the code is missing': [{ callback: (each) => each.delete('code') }],
  'the iss is wrong': [{ callback: (each) => each.set('iss', `https://${DESCRIPTION}.example`) }],
  'code and error are there': [{ callback: (each) => each.set('error', DESCRIPTION) }],
  'the code is wrong': [{ callback: (each) => each.set('code', `${each.get('code')}A`) }],
  'the token response is an error': [{ token: talkative }],
  'the token response is garbled': [{ token: garbled }],
  'the token response has another type': [{ token: set({ token_type: DESCRIPTION }) }],
  'the token response is late': [{ token: () => () => {} }, { providerTimeoutMs: 60 }],
  'the ID Token has another nonce': [{ claims: set({ nonce: DESCRIPTION, ...person }) }],
  'the ID Token has another issuer': [{ claims: set({ iss: DESCRIPTION, ...person }) }],
  'the ID Token has another azp': [{ claims: set({ azp: DESCRIPTION, ...person }) }],
  'the ID Token has expired': [{ claims: set({ exp: 1, ...person }) }],
  'the ID Token comes from the future': [{ claims: set({ iat: 9_999_999_999, ...person }) }],
  'the ID Token is garbled': [{ idToken: () => `${DESCRIPTION}.${DESCRIPTION}.x` }],
  'the keys are an error': [{ jwks: talkative }],
  'the keys are others': [{ jwks: () => ({ keys: [] }) }],
  'userinfo is an error': [{ userinfo: talkative }],
  'userinfo is garbled': [{ userinfo: garbled }],
  'userinfo has another subject': [{ userinfo: set({ sub: DESCRIPTION }) }],
  'onSignIn refuses by what it knows': [
    {},
    {
      onSignIn: (...known) => {
        const text = JSON.stringify(known)
        throw new HttpError(403, `Not a member: ${text}`, { cause: new Error(text) })
      },
    },
  ],
  'onSignIn fails by what it knows': [
    {},
    {
      onSignIn: ({ email }, { tokens }) => {
        throw new TypeError(`${email} has no ${tokens.access_token}`)
      },
    },
  ],
  'the session is too long': [
    {},
    { onSignIn: (_, { tokens }) => ({ tokens, long: 'x'.repeat(5_000) }) },
  ],
}

describe('No sink contains a secret', () => {
  for (const [what, [faults, options]] of Object.entries(steps)) {
    it(`if ${what}`, async (t) => {
      const app = await startHostileApp(t, faults, options)
      for (const accept of ['text/html', 'application/json', 'text/plain'])
        await failOnce(app, accept)
      assert.ok(app.reports.length >= 3)
    })
  }

  it('in development, where a page shows more', async (t) => {
    for (const [faults, options] of Object.values(steps)) {
      await failOnce(await startHostileApp(t, faults, options, { development: true }), 'text/html')
    }
  })

  it('in a complete sign-in', async (t) => {
    const app = await startHostileApp(t)
    const client = app.browser()
    const back = await depart(client)
    await goBack(client, back)
    for (const { value } of client.cookies(ORIGIN).values()) app.provider.secrets.add(value)
    await client.send(`${ORIGIN}/nobody/here`)
    await client.send(back)
    assert.ok(app.provider.secrets.size > 10)
    assertNoSecret(app, [], app.provider.secrets)
  })

  it('if an action fails by the identity of its user', async (t) => {
    const onSignIn: SignInOptions['onSignIn'] = (_, { tokens }) => ({ key: tokens.access_token })
    const plugins = [{ preDispatch: failByIdentity }]
    const app = await startHostileApp(t, {}, { onSignIn }, { plugins })
    async function failByIdentity(request: HttpRequest): Promise<void> {
      const identity = await app.auth.identity(request)
      const { email, subject, data } = identity ?? {}
      if (identity) throw new Error(`${email} (${subject}, ${JSON.stringify(data)}) failed`)
    }
    const client = app.browser()
    await goBack(client, await depart(client))
    const page = await client.send(`${ORIGIN}/index/index`)
    assert.equal(page.status, 500)
    assertNoSecret({ ...app, exceptions: [] }, [page], app.provider.secrets)
  })

  it('if a hook quotes where the sign-in leads', async (t) => {
    const quote: Plugin['postDispatch'] = ({ errorHandler }, { headers }) => {
      if (!errorHandler) throw new Error(`Unexpected redirect to ${headers.get('location')}`)
    }
    let postDispatch: Plugin['postDispatch']
    const plugins: Plugin[] = [{ postDispatch: (...received) => postDispatch?.(...received) }]
    const app = await startHostileApp(t, {}, {}, { plugins })
    const client = app.browser()
    const back = await depart(client, beginning('hostile', { continue: '/reset/k7Qx9ZpLm2vB' }))
    postDispatch = quote
    const pages = [await goBack(client, back), await client.send(beginning())]
    assert.deepEqual(
      app.reports.map(({ message }) => message.slice(0, 22)),
      ['Unexpected redirect to', 'Unexpected redirect to'],
    )
    assertNoSecret({ ...app, exceptions: [] }, pages, ['k7Qx9ZpLm2vB'])
    assert.doesNotMatch(app.reports[1]?.message ?? '', /(?:state|nonce)=[\w-]/)
    assert.match(app.reports[1]?.message ?? '', /authorize\?response_type=code/)
  })

  for (const hook of ['postDispatch', 'dispatchLoopShutdown'] as const) {
    it(`if ${hook} quotes the cookies of the response`, async (t) => {
      const quoted: string[] = []
      const quote = ({ errorHandler }: HttpRequest, { headers }: HttpResponse): void => {
        const cookies = headers.get('Set-Cookie')
        if (errorHandler || cookies === undefined) return
        quoted.push(...(cookies.match(/(?<==)[\w.-]{40,}/g) ?? []))
        throw new Error(`Unexpected cookies: ${cookies}`)
      }
      let isQuoting = false
      const hooked: typeof quote = (...received) => (isQuoting ? quote(...received) : undefined)
      const plugins: Plugin[] = [{ [hook]: hooked }]
      const app = await startHostileApp(t, {}, {}, { plugins })
      const client = app.browser()
      const back = await depart(client)
      isQuoting = true
      const pages = [await goBack(client, back), await client.send(beginning())]
      assert.equal(quoted.length, 2)
      for (const { message } of app.reports)
        assert.match(message, /^Unexpected cookies: .*HttpOnly/)
      assertNoSecret({ ...app, exceptions: [] }, pages, quoted)
    })
  }

  it('with --show-values, if a plugin fails or forwards before the action runs', async (t) => {
    const fail = (): never => {
      throw new Error('The plugin failed')
    }
    const forward = (request: HttpRequest) =>
      request.errorHandler ? undefined : request.forward({ controller: 'closed', action: 'index' })
    const failing: Plugin[] = [
      { routeStartup: fail },
      { routeShutdown: fail },
      { routeShutdown: forward },
      { dispatchLoopStartup: forward },
      { preDispatch: forward },
    ]
    let current: Plugin = {}
    const hooks = ['routeStartup', 'routeShutdown', 'dispatchLoopStartup', 'preDispatch'] as const
    const plugin = Object.fromEntries(
      hooks.map((hook) => [hook, (...received: [never, never]) => current[hook]?.(...received)]),
    )
    const shown = { plugins: [plugin], development: true, showValues: true }
    const app = await startHostileApp(t, {}, {}, shown)
    for (const each of failing) {
      const client = app.browser()
      current = {}
      const back = await depart(client)
      for (const value of back.searchParams.values()) addSecret(app.provider, value)
      current = each
      const init = { headers: { host: '127.0.0.1', accept: 'text/html' } }
      const page = await client.send(back, init)
      assert.match(page.body, /Registered actions/)
      assertNoSecret({ ...app, exceptions: [] }, [page], app.provider.secrets)
    }
    current = { routeShutdown: fail }
    const values = await app.browser().send(`${ORIGIN}/index/index?page=shown-value`, {
      headers: { host: '127.0.0.1', accept: 'text/html' },
    })
    assert.match(values.body, /shown-value/)
  })

  it('if a secret is a part of the name of a parameter, or of the path', async (t) => {
    const app = await startHostileApp(t)
    const client = app.browser()
    for (let count = 0; count < 15; count++) {
      const back = await depart(client)
      const code = back.searchParams.get('code') ?? ''
      const state = back.searchParams.get('state') ?? ''
      addSecret(app.provider, code.replace('code-', ''))
      addSecret(app.provider, state)
      const pages: Page[] = []
      for (const glued of [
        `provider=hostile&code${code}&state${state}`,
        `provider=hostile&code%3D${code}&state%3D${state}`,
        `provider=hostile&code=${code}&state${state}=`,
        `provider=hostile&state${state}=x&code=${code}&state=${state}x`,
        `provider=hostile%26state%3D${state}%26code%3D${code}`,
        `provider=hostile${state}&code=${code}&state=${state}`,
        `code=${code};state=${state}`,
        `provider=hostile&${state}=${code}`,
      ]) {
        pages.push(await client.send(`${ORIGIN}/elp/oauth.php?${glued}`))
      }
      pages.push(
        await client.send(
          `${ORIGIN}/elp/oauth.php/state${state}/code${code}?provider=hostile&state=a`,
        ),
      )
      assertNoSecret(app, pages, app.provider.secrets)
    }
  })

  it('if a short code is glued to the name of a parameter', async (t) => {
    const onSignIn = (_: unknown, { request }: { request: HttpRequest }): never => {
      throw new Error(`No ${request.query.get('codek7q')} in ${request.target}`)
    }
    const app = await startHostileApp(t, {}, { onSignIn })
    const client = app.browser()
    const back = await depart(client)
    back.searchParams.set('codek7q', 'long-value')
    const pages = [await goBack(client, back)]
    for (const [path, method] of [
      ['?provider=hostile&codek7q', 'GET'],
      ['?provider=hostile&codek7q=&state=a', 'GET'],
      ['?provider=hostile&code=a&codek7q=', 'HEAD'],
      ['?provider=nobody&codek7q=a', 'GET'],
      ['?provider=hostile&codek7q', 'POST'],
      ['/codek7q/a?provider=hostile&state=a', 'GET'],
    ] as const) {
      pages.push(await client.send(`${ORIGIN}/elp/oauth.php${path}`, { method }))
    }
    assert.ok(app.reports.length >= 5)
    assertNoSecret({ ...app, exceptions: [] }, pages, ['codek7q'])
  })

  it('if a state looks like a name and stands in the place of one', async (t) => {
    const app = await startHostileApp(t)
    const state = (await depart(app.browser())).searchParams.get('state') ?? ''
    // No state is a row of words, but the longer a name is, the less it may look like one.
    const wordy = 'page-name-'.repeat(9).slice(0, state.length)
    await app.browser().send(`${beginning()}&code=a&${wordy}=b`)
    const [report] = app.reports
    assert.deepEqual(Object.keys(report?.params ?? {}).slice(0, 2), ['provider', 'code'])
    assert.ok(!JSON.stringify(report).includes(wordy))
  })
})

describe('The report of a failed sign-in', () => {
  it('has configured names and fixed words in fields of its own, and no cause', async (t) => {
    const stepsSeen = new Map<string, Set<string>>()
    for (const [what, [faults, options]] of Object.entries(steps)) {
      if (options?.onSignIn) continue
      const app = await startHostileApp(t, faults, options)
      const client = app.browser()
      let page = await client.send(beginning())
      if (page.status === 303) page = await goBack(client, await depart(client))
      const [report] = app.reports
      const { signIn, fingerprint, previous } = report ?? {}
      assert.ok(signIn, what)
      const { provider, step, fault, ...rest } = signIn
      assert.deepEqual([provider, rest, previous], ['hostile', {}, null], what)
      for (const word of [step, fault])
        assert.match(word ?? '', /^[A-Za-z][A-Za-z0-9 .,'_-]*$/, what)
      assert.ok(
        fingerprint?.includes('hostile') && fingerprint.includes(step.replaceAll(' ', '-')),
        fingerprint,
      )
      const faultsOfStep = stepsSeen.get(step) ?? new Set()
      stepsSeen.set(step, faultsOfStep.add(fault))
    }
    assert.ok(stepsSeen.size >= 4, inspect(stepsSeen))
  })

  it('names no provider that is not configured', async (t) => {
    const app = await startHostileApp(t)
    await app.browser().send(beginning('canary-provider'))
    assert.equal(app.reports[0]?.status, 404)
    assert.doesNotMatch(inspect(app.sinks, { depth: null }), /canary-provider/)
  })

  it('counts against the noise budget by provider and step', async (t) => {
    const { reports, browser, provider } = await startHostileApp(t, { discovery: talkative })
    await browser().send(beginning())
    provider.faults = { token: talkative }
    const client = browser()
    await goBack(client, await depart(client))
    provider.faults = { userinfo: talkative }
    await goBack(client, await depart(client))
    assert.equal(new Set(reports.map(({ fingerprint }) => fingerprint)).size, 3)
    assert.deepEqual(cookieNames(client), [])
  })
})

/** Begins a sign-in that fails, and loads the page of the failure twice. */
async function failOnce(app: HostileApp, accept: string): Promise<void> {
  const client = app.browser()
  const init = { headers: { accept }, site: 'cross-site' } as const
  const pages = [await client.send(beginning(), init)]
  if (pages[0]?.status === 303) {
    const back = await depart(client)
    for (const value of back.searchParams.values()) addSecret(app.provider, value)
    for (const { value } of client.cookies(ORIGIN).values()) addSecret(app.provider, value)
    pages.push(await client.send(back, init), await client.send(back, init))
  }
  const { status, body } = pages.at(-1) ?? {}
  assert.ok(status && status >= 400, body)
  assertNoSecret(app, pages, app.provider.secrets)
}

function addSecret({ secrets }: HostileProvider, value: string): void {
  if (value.length >= 16 && !value.startsWith('http')) secrets.add(value)
}

// An exception of `onSignIn` itself holds what the application has put into it.
function isOurs({ stack }: Error): boolean {
  return !/ at onSignIn /.test(stack ?? '')
}

/** Asserts that neither the sinks nor the pages contain a secret, nor a good part of one. */
function assertNoSecret(
  { sinks, exceptions }: App,
  pages: readonly Page[],
  secrets: Iterable<string>,
): void {
  const shown = pages.map(({ body, headers: { 'set-cookie': _, location: __, ...rest } }) => [
    body,
    rest,
  ])
  const text = inspect([sinks, shown, exceptions.filter(isOurs)], {
    depth: null,
    maxArrayLength: null,
    maxStringLength: null,
    showHidden: true,
    breakLength: Number.POSITIVE_INFINITY,
  })
  for (const secret of secrets) {
    const parts = secret.length > 24 ? [secret.slice(0, 16), secret.slice(-16)] : [secret]
    for (const part of [...parts, encodeURIComponent(secret)]) {
      const index = text.indexOf(part)
      assert.equal(index, -1, `${secret}: ${text.slice(Math.max(0, index - 300), index + 100)}`)
    }
  }
}
