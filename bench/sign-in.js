// Measures the sign-in, after a build: node bench/sign-in.js
//
// It prints the memory of the application during 5,000 sign-ins in a row, the requests to a provider when 50 users sign in at once
// and nothing is known of it yet, and the time of auth.identity(). The exit code is 1 if a goal is not met. It takes about a
// minute, and at most three. The provider and the browsers run in a child process.

import { fork } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { request } from 'undici'
import { FrontController, HttpRequest, serve } from '../dist/lib/index.js'
import { signIn } from '../dist/lib/sign-in.js'
import { startProvider } from '../examples/sign-in/test/provider.js'
import { table } from './report.js'
import { median } from './statistics.js'

const TIMEOUT_MS = 180_000
const SIGN_INS = { steps: 10, each: 500 }
// The compiled code and the caches are complete after the first steps.
const WARM_STEPS = 4
const AT_ONCE = 50
const IDENTITY = { batches: 20, each: 1_000 }
const MIB = 1_048_576
const GOALS = { heapGrowthBytes: MIB, identityUs: 100 }
// The browsers connect to the port of the server. The sign-in only knows this origin.
const ORIGIN = 'http://localhost:3000'

if (process.send === undefined) await measure()
else await serveProvider()

async function measure() {
  setTimeout(() => process.exit(1), TIMEOUT_MS).unref()
  const child = fork(fileURLToPath(import.meta.url))
  child.once('exit', (code) => code && process.exit(1))
  const [issuer] = await once(child, 'message')
  const ask = async (question) => {
    child.send(question)
    const [answer] = await once(child, 'message')
    return answer
  }
  console.log(`Node ${process.version}\n`)
  const isMet = [await signInAtOnce(issuer, ask), await signInInARow(issuer, ask)]
  child.disconnect()
  if (isMet.includes(false)) process.exitCode = 1
}

async function signInAtOnce(issuer, ask) {
  const { service } = await startApplication(issuer)
  const { counts, ms } = await ask({ url: service.url, count: AT_ONCE, atOnce: AT_ONCE })
  await service.close()
  console.log(`${AT_ONCE} sign-ins at once, the first of the process: ${Math.round(ms)} ms\n`)
  console.log(`${table(['request to the provider', 'count'], Object.entries(counts))}\n`)
  return counts['/.well-known/openid-configuration'] === 1 && counts['/keys'] === 1
}

async function signInInARow(issuer, ask) {
  const { auth, service } = await startApplication(issuer)
  const rows = []
  const heaps = []
  let cookie = ''
  for (let step = 1; step <= SIGN_INS.steps; step++) {
    const answer = await ask({ url: service.url, count: SIGN_INS.each, atOnce: 1 })
    cookie = answer.cookie
    const { heapUsed, external, rss } = await memory()
    heaps.push(heapUsed)
    const perSignIn = `${(answer.ms / SIGN_INS.each).toFixed(2)} ms`
    rows.push([String(step * SIGN_INS.each), mib(heapUsed), mib(external), mib(rss), perSignIn])
  }
  const columns = ['sign-ins in a row', 'heap', 'external', 'resident', 'each']
  console.log(`${table(columns, rows)}\n`)
  const growth = heaps.at(-1) - heaps[WARM_STEPS - 1]
  const count = (SIGN_INS.steps - WARM_STEPS) * SIGN_INS.each
  console.log(`The heap grew by ${Math.round(growth / 1_024)} KiB during the last ${count}.\n`)
  const us = await timeIdentity(auth, cookie)
  await service.close()
  return growth < GOALS.heapGrowthBytes && us < GOALS.identityUs
}

async function timeIdentity(auth, cookie) {
  const withCookie = await timeBatches(auth, { cookie })
  const without = await timeBatches(auth, {})
  console.log(
    `auth.identity(): ${withCookie.toFixed(1)} µs with a session, ${without.toFixed(2)} µs without a cookie`,
  )
  return withCookie
}

// The median of the batches, in microseconds for a request.
async function timeBatches(auth, headers) {
  const times = []
  for (let batch = 0; batch < IDENTITY.batches; batch++) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < IDENTITY.each; i++) {
      const identity = await auth.identity(new HttpRequest({ target: '/', headers }))
      if ((identity === undefined) === 'cookie' in headers) throw new Error('No identity')
    }
    times.push(Number(process.hrtime.bigint() - start) / 1_000 / IDENTITY.each)
  }
  return median(times)
}

/** Serves an application that knows nothing of its provider yet. */
async function startApplication(issuer) {
  const auth = signIn({
    origin: ORIGIN,
    secrets: ['a secret of the benchmark: 32 bytes or more'],
    providers: { test: { issuer, clientId: 'client', clientSecret: 'secret', scope: 'openid' } },
  })
  const front = new FrontController({ controllers: { elp: auth.controller } })
  return { auth, service: await serve(front, { port: 0 }) }
}

async function memory() {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc')
  collect()
  // An object with a finalizer is only collected the second time.
  await setImmediate()
  collect()
  return process.memoryUsage()
}

function mib(bytes) {
  return `${(bytes / MIB).toFixed(1)} MiB`
}

// The child process: the provider, and the browsers that sign in.
async function serveProvider() {
  let counts = {}
  subscribe('http.server.request.start', ({ request: { url } }) => {
    const [path] = url.split('?')
    counts[path] = (counts[path] ?? 0) + 1
  })
  const provider = await startProvider()
  process.on('message', async ({ url, count, atOnce }) => {
    counts = {}
    const start = performance.now()
    let left = count
    let cookie = ''
    const browse = async () => {
      while (left-- > 0) cookie = await signInOnce(url)
    }
    await Promise.all(Array.from({ length: atOnce }, browse))
    process.send({ counts, cookie, ms: performance.now() - start })
  })
  process.on('disconnect', () => process.exit())
  process.send(provider.issuer)
}

/** Signs in, and returns the cookie of the session. */
async function signInOnce(url) {
  const begun = await open(`${url}/elp/oauth.php?provider=test`)
  const atProvider = await open(begun.location)
  const { location, cookie } = await open(atProvider.location.replace(ORIGIN, url), begun.cookie)
  if (location !== '/') throw new Error(`Expected the path "/", got "${location}"`)
  return cookie
}

async function open(url, cookie = '') {
  const { headers, body } = await request(url, { headers: { cookie } })
  await body.dump()
  const lines = [headers['set-cookie'] ?? []].flat().filter((line) => !/Max-Age=0/.test(line))
  const cookies = lines.map((line) => line.split(';', 1)[0])
  return { location: String(headers.location), cookie: cookies.join('; ') }
}
