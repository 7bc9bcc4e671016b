import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'

const PROGRAM = [
  process.env.CHROMIUM ?? '',
  ...['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
].find((path) => path !== '' && existsSync(path))

/** Why a test with Chromium is skipped; false if Chromium is installed. */
export const noChromium: string | false =
  PROGRAM === undefined && 'No Chromium is installed: CHROMIUM can name the program'

/** A message of the DevTools protocol. */
interface Message {
  readonly id?: number
  readonly sessionId?: string
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own members.
  readonly params?: any
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own members.
  readonly result?: any
  readonly error?: { readonly message: string }
}

/** A Chromium without a window, with a profile of its own, driven by the DevTools protocol. */
export class Chromium {
  readonly #input: Writable
  readonly #pending = new Map<number, (message: Message) => void>()
  readonly #events = new EventEmitter().setMaxListeners(0)
  readonly #ended: Promise<never>
  #lastId = 0

  private constructor(child: ChildProcess) {
    const [, , , input, output] = child.stdio
    this.#input = input as Writable
    // A command to a program that has ended.
    this.#input.on('error', () => {})
    this.#ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`${PROGRAM} ended: ${code ?? signal}`)
    })
    // The end of the test kills it: that end is no error.
    this.#ended.catch(() => {})
    let received = ''
    const read = (output as Readable).setEncoding('utf8')
    read.on('data', (chunk: string) => {
      // Each message ends with a zero byte.
      const texts = (received + chunk).split('\0')
      received = texts.pop() ?? ''
      for (const text of texts) this.#receive(JSON.parse(text))
    })
  }

  /** Starts Chromium. The end of the test kills it. */
  static start(t: TestContext): Chromium {
    const profile = mkdtempSync(join(tmpdir(), 'portico-chromium-'))
    const quiet = ['disable-gpu', 'no-first-run', 'disable-background-networking', 'disable-sync']
    // --no-sandbox: a container has no user namespaces. The pages are those of the test.
    const flags = ['headless', 'no-sandbox', 'disable-dev-shm-usage', 'remote-debugging-pipe']
    // Whether a page stays in memory is a matter of time, and not of the server.
    const disabled = 'disable-features=BackForwardCache'
    const args = [...flags, ...quiet, disabled, `user-data-dir=${profile}`].map(
      (flag) => `--${flag}`,
    )
    const child = spawn(PROGRAM ?? '', [...args, 'about:blank'], {
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    t.after(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit')
        // The whole group of processes, which no other process belongs to.
        process.kill(-Number(child.pid), 'SIGKILL')
        await ended
      }
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
    })
    return new Chromium(child)
  }

  /** Opens an empty tab. All tabs share their cookies. */
  async newTab(): Promise<Tab> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
    await this.send('Page.enable', {}, sessionId)
    await this.send('Network.enable', {}, sessionId)
    await this.send('Runtime.enable', {}, sessionId)
    await this.send('Log.enable', {}, sessionId)
    const tab = new Tab(this, sessionId)
    for (const event of ['Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Log.entryAdded']) {
      this.#events.on(`${sessionId} ${event}`, (params) =>
        tab.problems.push(JSON.stringify(params)),
      )
    }
    this.#events.on(`${sessionId} Network.requestWillBeSent`, ({ type, request }) => {
      if (type === 'Document') tab.requested.push(request.url)
    })
    return tab
  }

  /** Sends a command, and returns its result. @internal */
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own result.
  async send(method: string, params: object, sessionId?: string): Promise<any> {
    const id = ++this.#lastId
    const received = new Promise<Message>((resolve) => this.#pending.set(id, resolve))
    this.#input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    const { result, error } = await Promise.race([received, this.#ended])
    assert.equal(error, undefined, `${method}: ${error?.message}`)
    return result
  }

  /** Waits for an event of a tab. @internal */
  next(method: string, sessionId: string, isMeant: (params: Message['params']) => boolean) {
    const name = `${sessionId} ${method}`
    return new Promise<void>((resolve) => {
      const listener = (params: Message['params']): void => {
        if (!isMeant(params)) return
        this.#events.off(name, listener)
        resolve()
      }
      this.#events.on(name, listener)
    })
  }

  #receive(message: Message): void {
    if (message.id === undefined) {
      this.#events.emit(`${message.sessionId} ${message.method}`, message.params)
      return
    }
    this.#pending.get(message.id)?.(message)
    this.#pending.delete(message.id)
  }
}

/** A cookie as Chromium keeps it. */
export interface StoredCookie {
  readonly name: string
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite: string
  readonly path: string
}

/** A tab of {@link Chromium}. */
export class Tab {
  /** The addresses of all documents so far, redirects too. */
  readonly requested: string[] = []
  /** Everything that the console shows. */
  readonly problems: string[] = []
  readonly #chromium: Chromium
  readonly #session: string

  constructor(chromium: Chromium, session: string) {
    this.#chromium = chromium
    this.#session = session
  }

  /** Sets the size and the color scheme of the screen. */
  async emulate(width: number, scheme: 'light' | 'dark'): Promise<void> {
    const screen = { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 }
    await this.#send('Emulation.setDeviceMetricsOverride', screen)
    const features = [{ name: 'prefers-color-scheme', value: scheme }]
    await this.#send('Emulation.setEmulatedMedia', { features })
  }

  /** Opens an address as a browser does that runs no scripts. */
  async openWithoutScripts(url: string): Promise<void> {
    await this.#send('Emulation.setScriptExecutionDisabled', { value: true })
    const loaded = this.#chromium.next('Page.loadEventFired', this.#session, () => true)
    await this.#send('Page.navigate', { url })
    await loaded
    await this.#send('Emulation.setScriptExecutionDisabled', { value: false })
  }

  /** Opens an address as if it was typed, and waits for the page that the redirects lead to. */
  async open(url: string): Promise<void> {
    await this.#navigate(() => this.#send('Page.navigate', { url }))
  }

  /** Clicks the only element that fits a selector, and waits for the page that this leads to. */
  async click(selector: string): Promise<void> {
    await this.leave(`document.querySelector(${JSON.stringify(selector)}).click()`)
  }

  /** Runs a script that leaves the page, as a click of the user, and waits for the page that this leads to. */
  async leave(script: string): Promise<void> {
    await this.#navigate(() => this.evaluate(script, true))
  }

  /** Presses the back button (-1) or the forward button (1). */
  async go(steps: -1 | 1): Promise<void> {
    const { currentIndex, entries } = await this.#send('Page.getNavigationHistory')
    const entryId = entries[currentIndex + steps].id
    await this.#navigate(() => this.#send('Page.navigateToHistoryEntry', { entryId }))
  }

  /** Presses the button that loads the page again. */
  async reload(): Promise<void> {
    await this.#navigate(() => this.#send('Page.reload'))
  }

  /** The address of the page. */
  async url(): Promise<string> {
    return this.evaluate('location.href')
  }

  /** The text of the page. */
  async text(): Promise<string> {
    return this.evaluate('document.body.innerText')
  }

  /** The cookies of the address of the page. */
  async cookies(): Promise<readonly StoredCookie[]> {
    return (await this.#send('Network.getCookies')).cookies
  }

  /** Forgets the cookies of a host. */
  async forget(origin: string): Promise<void> {
    const { cookies } = await this.#send('Network.getCookies', { urls: [origin] })
    for (const { name, domain, path } of cookies) {
      await this.#send('Network.deleteCookies', { name, domain, path })
    }
  }

  /** Runs a script in the page, and returns its result. */
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the result.
  async evaluate(expression: string, userGesture = false): Promise<any> {
    // Without a gesture of the user, Chromium skips the page when the user goes back.
    const options = { expression, userGesture, returnByValue: true, awaitPromise: true }
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', options)
    assert.equal(exceptionDetails, undefined, `${expression}: ${result.description}`)
    return result.value
  }

  async #navigate(act: () => Promise<unknown>): Promise<void> {
    // Only the page at the end of the redirects is a navigation; so is a page that the back button takes from memory.
    const isPage = ({ frame }: Message['params']): boolean => frame.parentId === undefined
    const navigated = this.#chromium.next('Page.frameNavigated', this.#session, isPage)
    await act()
    await navigated
    await this.evaluate(
      "document.readyState === 'complete' || new Promise((resolve) => addEventListener('load', resolve))",
    )
  }

  // biome-ignore lint/suspicious/noExplicitAny: each method has its own result.
  #send(method: string, params: object = {}): Promise<any> {
    return this.#chromium.send(method, params, this.#session)
  }
}
