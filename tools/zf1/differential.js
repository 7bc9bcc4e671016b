// Compares Portico with the real Zend Framework 1, after a build:
//
//   ZF1=<the folder that contains Zend/> node tools/zf1/differential.js [--requests N] [--seed N]

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { application } from './application.js'
import { calibrate } from './calibrate.js'
import { Comparison } from './comparison.js'
import { DIFFERENCES, RULES } from './model.js'
import { generate } from './requests.js'
import { SetupError, Zf1 } from './zf1.js'

const VECTORS = new URL('../../test/conformance/vectors.jsonl', import.meta.url)
const MAX_EXAMPLES = 5

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  console.error(error.message)
  process.exitCode = 2
}

async function main() {
  const { requests, seed } = readOptions()
  const text = readFileSync(VECTORS, 'utf8').trimEnd()
  const vectors = text.split('\n').map((line) => JSON.parse(line))
  const zf1 = new Zf1(application)
  try {
    const isCalibrated = printFaults(vectors.length, await calibrate(zf1, vectors))
    const isEqual = isCalibrated && (await compare(zf1, generate(seed, requests, vectors), seed))
    // It reads the same options.
    await import('./routes.js')
    return isEqual && process.exitCode !== 1
  } finally {
    zf1.stop()
  }
}

function readOptions() {
  const option = (text) => ({ type: 'string', default: text })
  try {
    const { values } = parseArgs({ options: { requests: option('20000'), seed: option('1') } })
    return { requests: readNumber('requests', values), seed: readNumber('seed', values) }
  } catch ({ message }) {
    throw new SetupError(message)
  }
}

function readNumber(name, { [name]: text }) {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new RangeError(`Expected "--${name}" to be a number of up to six digits, got "${text}"`)
}

function printFaults(vectors, faults) {
  console.log(`Calibration: ${vectors} vectors, ${faults.length} faults`)
  for (const fault of faults.slice(0, MAX_EXAMPLES)) console.log(fault)
  return faults.length === 0
}

async function compare(zf1, requests, seed) {
  const comparison = new Comparison(zf1)
  const startedAt = performance.now()
  await comparison.run(requests)
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  printTable(comparison.counts, `Seed ${seed}, ${seconds} s`)
  for await (const example of comparison.examples(MAX_EXAMPLES)) printExample(example)
  return RULES.every((names) => !comparison.counts[names].has('unexplained'))
}

function printTable(counts, title) {
  const row = (name, cells) =>
    console.log(name.padEnd(16) + cells.map((cell) => String(cell).padStart(8)).join(''))
  row(title, RULES)
  for (const kind of ['equal', 'explained', ...DIFFERENCES, 'unexplained']) {
    const cells = RULES.map((names) => counts[names].get(kind) ?? 0)
    row(DIFFERENCES.includes(kind) ? `  by ${kind}` : kind, cells)
  }
}

function printExample({ names, request, fields, real, expected, outcome }) {
  const differing = (found) =>
    JSON.stringify(Object.fromEntries(fields.map((field) => [field, found[field]])))
  console.log(`\nUnexplained under ${names}: ${JSON.stringify(request)}`)
  console.log(`  ZF1       ${differing(real)}`)
  console.log(`  expected  ${differing(expected)}`)
  console.log(`  Portico   ${differing(outcome)}`)
}
