import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { describe, it, type TestContext } from 'node:test'
import { Chromium, noChromium, type Tab } from '../support/chromium.ts'
import { createFolder, writeFileIn } from '../support/folder.ts'
import { exchange } from '../support/http.ts'
import { findFreePorts } from '../support/ports.ts'
import { ServerProcess } from '../support/server-process.ts'

const APP = `
export function list(_, response) { response.text('list') }
export function fail() { throw new TypeError('This fails') }
`
const LIMIT = { timeout: 60_000 }

// The rules for contrast, headings, landmarks and names of https://github.com/dequelabs/axe-core.
const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe('The page of an operator in Chromium', { skip: noChromium }, () => {
  for (const workers of [0, 2]) {
    it(`is accessible in each size, light and dark, with ${workers} workers`, LIMIT, async (t) => {
      const { page, tab, port } = await start(t, workers)
      await requestLetters(port)
      for (const width of [390, 800, 1_600]) {
        for (const scheme of ['light', 'dark'] as const) {
          await tab.emulate(width, scheme)
          await tab.open(page)
          await tab.evaluate(
            `for (const each of document.querySelectorAll('details')) each.open = true`,
          )
          await tab.evaluate(await axe)
          const { violations } = await tab.evaluate('axe.run()')
          assert.deepEqual(violations, [], `${width} ${scheme}`)
          const [scrolled, shown] = await tab.evaluate(
            '[document.documentElement.scrollWidth, innerWidth]',
          )
          assert.ok(scrolled <= shown, `${scrolled} of ${shown}`)
        }
      }
      assert.deepEqual(tab.problems, [])
    })
  }

  it('shows the routes, the errors and the requests that failed', LIMIT, async (t) => {
    const { page, tab } = await start(t, 0)
    await tab.open(page)
    const text = await tab.text()
    for (const part of [
      'news/list',
      'EXCEPTION_OTHER TypeError',
      'GET /signin/v2/<3>',
      'word(3)',
    ]) {
      assert.ok(text.includes(part), `${part} in ${text}`)
    }
  })

  it('shows the latest counts by its script, and says if there is no answer', LIMIT, async (t) => {
    const { page, tab, port, server } = await start(t, 0)
    await tab.open(page)
    const requests = `parseInt(document.querySelectorAll('.tiles span')[1].innerText)`
    const before = await tab.evaluate(requests)
    await exchange(port, { target: '/news/list' })
    const changed = `new Promise((resolve) => new MutationObserver(() => resolve(${requests}))
      .observe(document.documentElement, { childList: true }))`
    assert.equal(await tab.evaluate(changed), before + 1)
    assert.deepEqual(tab.problems, [])
    server.child.kill('SIGKILL')
    const status = `document.querySelector('.status')`
    const ended = `new Promise((resolve) => new MutationObserver(() => resolve(${status}.innerText))
      .observe(${status}, { childList: true }))`
    assert.equal(await tab.evaluate(ended), 'no answer')
  })

  it('keeps open what the operator has opened, and the focus', LIMIT, async (t) => {
    const { page, tab, port } = await start(t, 0)
    await requestLetters(port)
    await tab.open(page)
    await tab.evaluate(`document.querySelector('#journal > summary').focus()`)
    await tab.evaluate(`document.querySelector('#journal').open = true`)
    await tab.evaluate(`new Promise((resolve) => new MutationObserver(resolve)
      .observe(document.documentElement, { childList: true })).then(() => 0)`)
    const states = `[...document.querySelectorAll('details')].map(({ id, open }) => id + ' ' + open)`
    assert.deepEqual(await tab.evaluate(states), ['journal true', 'rejections false'])
    assert.equal(await tab.evaluate('document.activeElement.parentNode.id'), 'journal')
    assert.deepEqual(tab.problems, [])
  })

  it(
    'is the same without JavaScript, and is then loaded again by the browser',
    LIMIT,
    async (t) => {
      const { page, tab } = await start(t, 0)
      await tab.openWithoutScripts(page)
      assert.match(await tab.text(), /news\/list/)
      assert.equal(await tab.evaluate(`document.querySelector('meta[http-equiv]').content`), '30')
      assert.deepEqual(tab.problems, [])
    },
  )
})

// Requests more paths than a table shows at once.
async function requestLetters(port: number): Promise<void> {
  for (const letter of 'abcdefghijklmnopqrst') await exchange(port, { target: `/${letter}/list` })
}

interface Started {
  readonly page: string
  readonly port: number
  readonly server: ServerProcess
  readonly tab: Tab
}

// Starts a server that has had a few requests, and a browser.
async function start(t: TestContext, workers: number): Promise<Started> {
  const folder = createFolder(t)
  writeFileIn(folder, 'news.mjs', APP)
  const [health] = await findFreePorts(1)
  const flags = ['--port=0', `--health-port=${health}`, `--workers=${workers}`]
  const server = new ServerProcess(t, [...flags, `--controllers=${folder}`])
  const port = await server.port()
  const paths = ['/news/list', '/news/fail', '/signin/v2/a?flow=abc', '/wp-login.php', '/%ff']
  for (const target of [...paths, ...paths]) await exchange(port, { target })
  const tab = await Chromium.start(t).newTab()
  return { page: `http://127.0.0.1:${health}/`, port, server, tab }
}
