// Compares the routes of Portico with those of the real Zend Framework 1, after a build:
//
//   ZF1=<the folder that contains Zend/> node tools/zf1/routes.js [--requests N] [--seed N] [--vectors FILE] [--show KIND]

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createRouting } from './portico-routes.js'
import { generateJobs } from './route-jobs.js'
import { compareUrls } from './route-urls.js'

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
  const url = job.url && (await compareUrls({ portico, job, real, ask, ids: IDS, isSame: same }))
  if (url) count(`URL ${url.kind}`)
  if (url?.kind.startsWith(options.show ?? 'unexplained'))
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

// Keeps one vector of each kind.
function writeVectors(file) {
  const seen = new Set()
  const kept = vectors.filter(({ why = [], url, routes }) => {
    const kinds = routes.map(([, each]) => Object.keys(each).sort().join())
    const { size } = seen
    return seen.add(`${why}|${url?.why}|${kinds.at(-1)}`).size > size
  })
  writeFileSync(file, kept.map((each) => `${JSON.stringify(each)}\n`).join(''))
  console.log(`${kept.length} vectors`)
}
