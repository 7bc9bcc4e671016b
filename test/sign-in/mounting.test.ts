import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Action,
  FrontController,
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
  type HttpRequestInit,
} from '../../lib/index.ts'
import { listActions } from '../../lib/inspect/list-routes.ts'
import { type SignInOptions, signIn } from '../../lib/sign-in.ts'
import { dispatched } from '../../lib/testing.ts'
import { collectReports } from '../support/collectors.ts'

const OPTIONS: SignInOptions = {
  origin: 'https://news.example',
  secrets: ['a secret of thirty-two characters, or more'],
  providers: {
    plain: {
      authorizationEndpoint: 'https://plain.example/authorize',
      tokenEndpoint: 'https://plain.example/token',
      userinfoEndpoint: 'https://plain.example/user',
      clientId: 'client',
      clientSecret: 'a client secret',
      identify: ({ id }) => ({ subject: id }),
    },
  },
}
const ASTRAY = `/signin/v2/x?flowName=a&dsh=b&redirect_uri=${encodeURIComponent('https://news.example/elp/oauth.php?provider=plain')}`

describe('auth.controller', () => {
  for (const names of ['exact', 'zf1'] as const) {
    it(`has its two actions under the rule "${names}", which no guard guards`, async () => {
      const send = sender({ names })
      const begun = await send('/elp/oauth.php?provider=plain')
      assert.equal(begun.status, 303)
      assert.match(begun.location, /^https:\/\/plain\.example\/authorize\?/)
      const headers = { 'sec-fetch-site': 'same-origin' }
      const ended = await send('/elp/sign-out', { method: 'POST', headers })
      assert.deepEqual([ended.status, ended.location], [303, '/'])
      assert.equal((await send('/elp/sign-out')).status, 405)
      assert.equal((await send('/elp/other')).status, 401)
    })
  }

  it('is found below a base path, if "path" has it', async () => {
    const path = '/app/elp/oauth.php'
    const { status, location } = await sender(
      { basePath: '/app' },
      { path },
    )('/app/elp/oauth.php?provider=plain')
    assert.equal(status, 303)
    assert.equal(
      new URL(location).searchParams.get('redirect_uri'),
      'https://news.example/app/elp/oauth.php?provider=plain',
    )
  })

  it('must be where "path" leads: a guard of everything says so in place of an endless redirect', async () => {
    const auth = signIn(OPTIONS)
    const { reports, onReport } = collectReports()
    const front = new FrontController({
      controllers: { auth: auth.controller },
      plugins: [auth.guard(() => true)],
      onReport,
    })
    const headers = { accept: 'text/html' }
    const open = (target: string) => front.handle(new HttpRequest({ target, headers }))
    const guarded = await open('/auth/account')
    assert.equal(guarded.status, 303)
    const { status } = await open(String(guarded.headers.get('Location')))
    assert.equal(status, 500)
    assert.deepEqual(
      reports.map(({ signIn, message }) => [signIn?.fault, message]),
      [['not mounted', 'The "path" of signIn() leads to no action "oauth.php" of its controller']],
    )
  })

  it('has its link on error pages also if a file exports its actions one by one', async () => {
    const { controller } = signIn(OPTIONS)
    const elp = Object.fromEntries(Object.entries(controller))
    const front = new FrontController({ controllers: { elp } })
    const { body, headers } = await front.handle(new HttpRequest({ target: '/elp/sign-out' }))
    assert.match(String(body), /"link":/)
    assert.equal(headers.get('Cache-Control'), 'no-store')
  })

  for (const hook of ['routeStartup', 'routeShutdown'] as const) {
    it(`has its link on error pages also if a plugin rejects the request in ${hook}`, async () => {
      const reject = (): never => {
        throw new HttpError(429, 'Too many requests')
      }
      const front = new FrontController({
        controllers: { elp: signIn(OPTIONS).controller },
        plugins: [{ [hook]: reject }],
      })
      const address = '/elp/oauth.php?provider=plain&code=a'
      for (const target of [address, `https://news.example${address}`]) {
        const { status, body, headers } = await front.handle(new HttpRequest({ target }))
        assert.equal(status, 429)
        assert.match(String(body), /"link":/)
        assert.equal(headers.get('Cache-Control'), 'no-store')
        assert.equal(headers.get('Referrer-Policy'), 'no-referrer')
      }
      const { body } = await front.handle(new HttpRequest({ target: '/index' }))
      assert.doesNotMatch(String(body), /"link":/)
    })
  }

  it('is built in, and its further actions have a file', () => {
    const { controller } = signIn(OPTIONS)
    const profile: Action = (_, response) => void response.text('secret')
    const front = new FrontController({ controllers: { elp: { ...controller, profile } } })
    const actions = listActions(front).filter(({ name }) => name.startsWith('elp/'))
    assert.deepEqual(
      actions.map(({ name, builtIn }) => [name, builtIn]),
      [
        ['elp/oauth.php', true],
        ['elp/sign-out', true],
        ['elp/profile', false],
      ],
    )
  })

  it('may have further actions, which a guard guards', async () => {
    const auth = signIn(OPTIONS)
    const profile: Action = (_, response) => void response.text('secret')
    const front = new FrontController({
      controllers: { elp: { ...auth.controller, profile } },
      plugins: [auth.guard(() => true)],
    })
    const statusOf = async (target: string): Promise<number> =>
      (await front.handle(new HttpRequest({ target }))).status
    assert.equal(await statusOf('/elp/profile'), 401)
    assert.equal(await statusOf('/elp/oauth.php?provider=plain'), 303)
  })

  it('is dispatched to in a dry run, in spite of a guard', async () => {
    const auth = signIn(OPTIONS)
    const front = new FrontController({
      controllers: { elp: auth.controller },
      plugins: [auth.guard(() => true)],
    })
    assert.deepEqual(await dispatched(front, '/elp/oauth.php?provider=plain'), {
      module: 'default',
      controller: 'elp',
      action: 'oauth.php',
      params: { provider: 'plain' },
    })
  })

  it('offers a link for a page of the provider at a path that is not routed, and not for a 404 of an action', async () => {
    const link = { href: '/elp/oauth.php?provider=plain', text: 'Sign in again' }
    const linkOf = async (controllers: object): Promise<unknown> => {
      const auth = signIn(OPTIONS)
      const front = new FrontController({ controllers: { elp: auth.controller, ...controllers } })
      const { status, body } = await front.handle(new HttpRequest({ target: ASTRAY }))
      assert.equal(status, 404)
      return JSON.parse(String(body)).link
    }
    assert.deepEqual(await linkOf({}), link)
    const v2: Action = () => {
      throw new HttpError(404)
    }
    assert.equal(await linkOf({ signin: { v2 } }), undefined)
  })
})

function sender(front: FrontControllerOptions, options: Partial<SignInOptions> = {}) {
  const auth = signIn({ ...OPTIONS, ...options })
  const controller = new FrontController({
    controllers: { elp: auth.controller },
    plugins: [auth.guard(() => true)],
    ...front,
  })
  return async (target: string, init: Partial<HttpRequestInit> = {}) => {
    const { status, headers } = await controller.handle(new HttpRequest({ ...init, target }))
    return { status, location: headers.get('Location') ?? '' }
  }
}
