// Compares the routes of Portico with those of the real Zend Framework 1, after a build:
//
//   ZF1=<the folder that contains Zend/> node tools/zf1/routes.js [--requests N] [--seed N] [--vectors FILE]

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createRouting } from './portico-routes.js'
import { generateJobs } from './route-jobs.js'

const PROGRAM = fileURLToPath(new URL('routes.php', import.meta.url))
/** The differences of section 10 of the specification that concern routes. */
const IDS = [
  ...['X3', 'X7', 'X12', 'X22', 'X23', 'X24', 'X25', 'X26', 'X27', 'X28', 'X29'],
  ...['X30', 'X31', 'X32', 'X33', 'X34', 'X35', 'X36', 'X37', 'X38'],
]
const MAX_EXAMPLES = 8

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    vectors: { type: 'string' },
    show: { type: 'string' },
  },
})
const php = spawn('php', [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
php.on('error', () => console.error('php was not found: install php-cli 8.2'))
const lines = createInterface({ input: php.stdout })[Symbol.asyncIterator]()

async function read() {
  const { value, done } = await lines.next()
  if (done) throw new Error('ZF1 has ended')
  return JSON.parse(value)
}

function ask(job, sets) {
  php.stdin.write(`${JSON.stringify({ ...job, sets })}\n`)
  return read()
}

const hasRest = await read()
if (!hasRest) console.log('This copy of ZF1 has no Zend_Rest_Route: REST is not compared')

const counts = new Map()
const count = (kind) => counts.set(kind, (counts.get(kind) ?? 0) + 1)
const examples = []
const vectors = []
for (const job of generateJobs(Number(options.seed), Number(options.requests), hasRest)) {
  const portico = createRouting(job.routes)
  const [real, plain, model] = await ask(job, [null, [], IDS])
  const found = portico.route(job.request)
  if (!same(real, plain)) report('the model without differences is not ZF1', { job, real, plain })
  const isEqual = same(real, found)
  const why = isEqual ? [] : await explain(job, found, model)
  count(isEqual ? 'equal' : why ? 'explained' : 'unexplained')
  for (const id of why ?? []) count(`  by ${id}`)
  if (!why) report('unexplained', { job, real, model, found })
  const url = job.url && compareUrls(portico, job, real)
  if (url) count(`URL ${url.kind}`)
  if (url?.kind === (options.show ?? 'unexplained'))
    report('unexplained URL', { job, real, ...url })
  vectors.push({
    routes: job.routes,
    request: job.request,
    zf1: routed(real),
    ...(isEqual ? {} : { expect: routed(found), why }),
    ...(url
      ? { url: { ...job.url, zf1: real.url ?? null, expect: url.found, why: url.kind } }
      : {}),
  })
}
php.stdin.end()
for (const [kind, number] of [...counts].sort()) console.log(kind.padEnd(30), number)
for (const example of examples) console.log(JSON.stringify(example))
if (options.vectors) writeVectors(options.vectors)
if (examples.length > 0) process.exitCode = 1

function report(fault, facts) {
  if (examples.length < MAX_EXAMPLES) examples.push({ fault, ...facts })
  count(`FAULT ${fault}`)
}

// Returns the ids that explain an outcome: without one of them, the model has another outcome.
async function explain(job, found, model) {
  if (!same(model, found)) return undefined
  let ids = IDS
  for (const id of IDS) {
    const others = ids.filter((each) => each !== id)
    const [outcome] = await ask(job, [others])
    if (same(outcome, found)) ids = others
  }
  return ids
}

function same(one, other) {
  return JSON.stringify(routed(one)) === JSON.stringify(routed(other))
}

// The order of different names has no meaning.
function routed({ error, route, module, controller, action, params = [] }) {
  if (error) return { error }
  const sorted = params
    .filter(([, values]) => values.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return { route, module, controller, action, params: sorted }
}

function compareUrls(portico, { routes, request, url }, real) {
  const { found, problem } = portico.urlFor(request, url)
  const facts = { found: found ?? null, problem }
  // Portico checks each of its URLs; here it is checked again.
  const place = found && portico.routeUrl(found, request)
  const isWrong = found && !(place && portico.isPlaceOf(request, { ...url, any: true }, place))
  if (isWrong) return { kind: 'unexplained', ...facts, place }
  const current = portico.route(request)
  const isOther = url.name === null && current.route !== real.route
  if (isOther) return { kind: 'of another request', ...facts }
  if (found !== undefined && normal(found) === normal(real.url)) return { kind: 'equal', ...facts }
  if (found === undefined && real.url === undefined) return { kind: 'both throw', ...facts }
  if (real.url === undefined) return { kind: 'only ZF1 throws', ...facts }
  const back = portico.routeUrl(real.url, request)
  // Of another request, ZF1 keeps other values.
  if (found === undefined && !url.reset && !same(current, real)) {
    return { kind: 'of another request', ...facts }
  }
  const isRight = back !== undefined && portico.isPlaceOf(request, url, back)
  const isEmpty =
    /^The route "\w+" needs /.test(problem) && /\/(?:\/|$)/.test(real.url.replace('://', ''))
  const reason = () =>
    isEmpty ? 'X41: an empty segment' : keptByZf1(portico, request, url, routes)
  const kind = found === undefined && isRight ? reason() : undefined
  if (found === undefined) return { kind: kind ?? 'X41: wrong in ZF1', ...facts, back }
  return { kind: isRight ? 'X42: another form' : 'X41: wrong in ZF1', ...facts, back }
}

// In ZF1, `reset` has no effect on a regex, and a part of a route that matched keeps its values although the route did not.
function keptByZf1(portico, request, { name, reset }, routes) {
  const current = portico.route(request).route
  const linksOf = (each) => {
    const pattern = new Map(routes).get(each)
    return pattern === undefined ? [] : [...linksOf(pattern.under), pattern]
  }
  const links = linksOf(name ?? current)
  const isHidden = links.some(({ defaults = {} }, i) =>
    links
      .slice(0, i)
      .some((each) => Object.keys(defaults).some((key) => variablesOf(each).includes(key))),
  )
  if (isHidden) return 'X41: hidden by a default'
  const hasRegex = links.some(({ regex }) => regex)
  if (reset) return hasRegex ? 'X39: kept in spite of reset' : 'unexplained'
  return name !== null && name !== current ? 'X40: kept from no match' : 'unexplained'
}

function variablesOf({ path = '', host = '', map = {} }) {
  return [...`${path}.${host}`.matchAll(/:([\w-]+)/g)]
    .map(([, name]) => name)
    .concat(Object.values(map), Object.keys(map))
}

// Without the encoding, and the slash at the end.
function normal(url = '') {
  const decode = (text) => decodeURIComponent(text.replaceAll('+', ' '))
  return url.replace(/\/+$/, '').split('/').map(decode).join('\n')
}

// Keeps two vectors of each kind.
function writeVectors(file) {
  const seen = new Map()
  const kept = vectors.filter(({ why = [], url, routes }) => {
    const kinds = routes.map(([, each]) => Object.keys(each).sort().join())
    const key = `${why}|${url?.why}|${kinds.at(-1)}`
    seen.set(key, (seen.get(key) ?? 0) + 1)
    return seen.get(key) <= 1
  })
  writeFileSync(file, kept.map((each) => `${JSON.stringify(each)}\n`).join(''))
  console.log(`${kept.length} vectors`)
}
