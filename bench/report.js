// Writes the results as Markdown tables: to stdout, and with --write to docs/performance.md, the plot and results.json.

import { readFileSync, writeFileSync } from 'node:fs'
import { plot } from './plot.js'
import { workloads } from './workloads.js'

const DOCS = new URL('../docs/', import.meta.url)
const RESULTS = /<!-- results -->[\s\S]*<!-- \/results -->/
const MIB = 1_048_576
const KIB = 1_024

const NAMES = {
  bare: 'node:http',
  'portico-serve': 'portico, `serve()`',
  'portico-metrics': 'portico, `serve()` with metrics',
}

/** Returns all figures as Markdown. */
export function tables(results) {
  const { machine, date } = results
  const binding = machine.pinned
    ? 'the servers on one core, the generator on another'
    : 'not bound to cores'
  const title = `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${machine.system}; ${binding}; ${date}.`
  return [
    title,
    versionsOf(results),
    cpuTable(results),
    speedTable(results),
    ...wholeRunTables(results),
  ]
    .filter(Boolean)
    .join('\n\n')
}

export function goalTable(goals) {
  const rows = goals.map(({ title, figure, limit, reached, strict }) => [
    title,
    rounded(figure),
    `${strict ? '<' : '<='} ${rounded(limit)}`,
    reached ? 'ok' : 'MISSED',
  ])
  return goals.length === 0 ? '' : table(['goal', 'measured', 'limit', ''], rows)
}

export function writeResults(results) {
  const text = `${JSON.stringify(results, null, 2)}\n`
  writeFileSync(new URL('results.json', import.meta.url), text)
}

/** Replaces the tables in docs/performance.md, and the plot. */
export function writeDocs(results, goals) {
  const file = new URL('performance.md', DOCS)
  const block = `${tables(results)}\n\n${goalTable(goals)}`
  const text = readFileSync(file, 'utf8').replace(
    RESULTS,
    () => `<!-- results -->\n${block}\n<!-- /results -->`,
  )
  writeFileSync(file, text)
  writeFileSync(new URL('performance.svg', DOCS), plot(results.cpu, workloads))
}

function versionsOf({ versions }) {
  return `${Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')}.`
}

function cpuTable({ cpu }) {
  const cell = ({ ratio: { median, q1, q3 } }) =>
    `**${median.toFixed(2)}** (${q1.toFixed(2)}–${q3.toFixed(2)})`
  return `CPU per request against bare \`node:http\`: median (quartiles). The row \`node:http\` is the control: \`node:http\` against itself.\n\n${byAdapter(cpu, cell)}`
}

function speedTable({ cpu }) {
  const inMicroseconds = ({ cpuNs }) => (cpuNs / 1_000).toFixed(1)
  const cell = ({ one, other }) =>
    `${inMicroseconds(one)} (${inMicroseconds(other)}) µs, ${grouped(one.requestsPerSecond)}/s`
  return `CPU per request (in parentheses: \`node:http\` in the alternating slices), and requests per second under this load.\n\n${byAdapter(cpu, cell)}`
}

function byAdapter(cpu, cell) {
  const ids = Object.keys(cpu)
  const adapters = Object.keys(Object.values(cpu)[0])
  const rows = adapters.map((adapter) => [
    nameOf(adapter),
    ...ids.map((id) => cell(cpu[id][adapter])),
  ])
  return table(['', ...ids], rows)
}

function wholeRunTables(results) {
  if (results.starts === undefined) return []
  return [
    resourceTable(results),
    scaleTable(results),
    `W5 against W1, both with Portico: **${spread(results.scaleRatio.ratio)}**`,
    workersTable(results),
    reportLine(results),
  ]
}

function resourceTable({ starts, memory, idle, disk }) {
  const rows = Object.keys(starts).map((adapter) => [
    nameOf(adapter),
    `${starts[adapter].toFixed(0)} ms`,
    `${(memory[adapter] / MIB).toFixed(1)} MiB`,
    `${(idle[adapter] / MIB).toFixed(2)} MiB`,
    String(disk[adapter].packages),
    `${grouped(disk[adapter].bytes / KIB)} KiB`,
  ])
  const header = [
    'start to first response',
    'resident after load',
    'heap of 1,000 idle connections',
    'packages',
    'installed',
  ]
  return table(['', ...header], rows)
}

function scaleTable({ scale }) {
  const rows = scale.map(({ controllers, oneNs, spreadNs, bytesEach }) => [
    grouped(controllers),
    `${grouped(oneNs)} ns`,
    `${grouped(spreadNs)} ns`,
    `${grouped(bytesEach)} bytes`,
  ])
  const header = ['one URL', 'many URLs in turn', 'memory per controller']
  return `Time of a request in process, by the number of controllers.\n\n${table(['controllers', ...header], rows)}`
}

function workersTable({ workers }) {
  const rows = workers.map(({ workers, requestsPerSecond, cpuNs }) => [
    String(workers),
    `${grouped(requestsPerSecond)}/s`,
    Number.isNaN(cpuNs) ? '' : `${(cpuNs / 1_000).toFixed(1)} µs`,
  ])
  return table(['workers', 'requests', 'CPU per request'], rows)
}

function reportLine({ reports, inProcess }) {
  const { firstNs, laterNs } = reports
  const report = `A report adds ${grouped(firstNs / 1_000)} µs to the first request of its kind, and ${grouped(Math.max(0, laterNs))} ns after 10,000 requests of that kind.`
  return `${report}\n\nW1 in process, without a socket: ${grouped(inProcess.median)} ns (best ${grouped(inProcess.best)} ns).`
}

function spread({ median, q1, q3 }) {
  return `${median.toFixed(3)} (${q1.toFixed(3)}–${q3.toFixed(3)})`
}

export function table(header, rows) {
  const rule = header.map((_, i) => (i === 0 ? '---' : '---:'))
  return [header, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function nameOf(adapter) {
  return NAMES[adapter] ?? adapter
}

function grouped(number) {
  return Math.round(number).toLocaleString('en')
}

function rounded(number) {
  return number >= 100 ? grouped(number) : String(Math.round(number * 1_000) / 1_000)
}
