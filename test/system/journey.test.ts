import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fetch, type RequestInit, type Response } from 'undici'
import { FrontController, loadControllers } from '../../lib/index.ts'
import { TestAgent } from '../../lib/testing.ts'
import { repositoryFile } from '../support/repository.ts'

const signIn =
  'access_type=offline&app_domain=https%3A%2F%2Fapp.example.com&client_id=0000-abc.apps.example.com' +
  '&continue=https%3A%2F%2Faccounts.example.com%2Fconsent%3Fauthuser%3D0%26part%3DAJi8%23&ddm=0' +
  '&dsh=S-1234%3A5678&flowName=GeneralOAuthFlow&o2v=2&opparams=%253Fa%253Db&rart=ANgoxce' +
  '&redirect_uri=https%3A%2F%2Fapp.example.com%2Felp%2Foauth.php%3Fprovider%3Dexample' +
  '&response_type=code&scope=openid%20email&service=lso&theme=glif'

describe('A site', () => {
  let dispatcher: TestAgent

  before(async () => {
    const loaded = await loadControllers(repositoryFile('examples/controllers'))
    dispatcher = new TestAgent(new FrontController(loaded))
  })

  after(() => dispatcher.close())

  const request = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://a.test${path}`, { redirect: 'manual', dispatcher, ...init })

  it('lists, shows and saves news', async () => {
    const { articles } = (await (await request('/news/list')).json()) as {
      articles: { id: string }[]
    }
    assert.deepEqual(
      articles.map(({ id }) => id),
      ['1', '2'],
    )

    const body = new URLSearchParams({ title: 'A third', body: 'grün & gut' })
    const saved = await request('/news/save', { method: 'POST', body })
    assert.equal(saved.status, 303)
    const shown = await request(saved.headers.get('location') ?? '')
    assert.deepEqual(await shown.json(), { id: '3', title: 'A third', body: 'grün & gut' })
  })

  it('prefers a parameter of the path to one of the query string', async () => {
    const response = await request('/news/view/id/2?id=1')
    assert.equal(((await response.json()) as { id: string }).id, '2')
  })

  it('forwards its front page to the list', async () => {
    assert.deepEqual(await (await request('/')).json(), await (await request('/news/list')).json())
  })

  it('has a module for reports', async () => {
    const response = await request('/admin/report/daily/day/2026-11-20')
    assert.deepEqual(await response.json(), { day: '2026-11-20', visits: 40 })
  })

  it('responds to a sign-in at a wrong address with its own error action, and reveals no secret', async () => {
    for (const path of ['/signin/v2/identifier', '/lifecycle/flows/GeneralOAuthFlow']) {
      const response = await request(`${path}?${signIn}`)
      const text = await response.text()
      const controller = path.split('/')[1]
      assert.equal(response.status, 404)
      assert.deepEqual(JSON.parse(text), {
        type: 'EXCEPTION_NO_CONTROLLER',
        message: `Invalid controller specified (${controller})`,
        controller,
      })
      for (const value of new URLSearchParams(signIn).values()) {
        if (value.length > 3) assert.ok(!text.includes(value), value)
      }
    }
  })

  it('rejects GET for the save action, and lists the allowed methods', async () => {
    const rejected = await request('/news/save')
    assert.deepEqual([rejected.status, rejected.headers.get('allow')], [405, 'POST, OPTIONS'])
    await rejected.text()
    const options = await request('/news/save', { method: 'OPTIONS' })
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'POST, OPTIONS'])
  })
})
