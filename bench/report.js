// Writes the results as Markdown tables: to stdout, and with --write to the documents, the plot and results.json.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { plot } from './plot.js'
import { workloads } from './workloads.js'

const DOCS = new URL('../docs/', import.meta.url)
const RESULTS = new URL('results.json', import.meta.url)
const MARKED = /<!-- results -->[\s\S]*<!-- \/results -->/
const MIB = 1_048_576
const KIB = 1_024

const NAMES = {
  bare: 'node:http',
  'portico-serve': 'portico, `serve()`',
  'portico-metrics': 'portico, `serve()` with metrics',
  'portico-plugin': 'portico with one plugin',
  'portico-public': 'portico, `serve()` with public files',
  'portico-session': 'portico with a session',
}

/** Returns all figures as Markdown: a summary, and the tables of each version of Node. */
export function report(runs) {
  return `${summary(runs)}\n\n${details(runs)}`
}

/**
 * Writes the results to results.json, with those of other versions of Node that are there. Writes the summary to
 * docs/performance.md, the tables to docs/benchmark.md, and the plot of the newest version.
 */
export function writeReport(measured) {
  const runs = withOthers(measured)
  writeFileSync(RESULTS, `${JSON.stringify({ runs }, null, 2)}\n`)
  replaceMarked('performance.md', summary(runs))
  replaceMarked('benchmark.md', details(runs))
  const newest = runs.at(-1)
  writeFileSync(new URL('performance.svg', DOCS), plot(newest.cpu, workloads, newest.machine.node))
}

function withOthers(measured) {
  const others = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')).runs : []
  const versions = measured.map(majorOf)
  return [...others.filter((run) => !versions.includes(majorOf(run))), ...measured].sort(
    (a, b) => majorOf(a) - majorOf(b),
  )
}

function majorOf({ machine }) {
  return Number.parseInt(machine.node.slice(1), 10)
}

function replaceMarked(name, block) {
  const file = new URL(name, DOCS)
  const marked = `<!-- results -->\n${block}\n<!-- /results -->`
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(MARKED, () => marked),
  )
}

// The ratios of Portico and of fastify to bare node:http, with a row for each server and version of Node.
function summary(runs) {
  const [{ cpu }] = runs
  const ids = Object.keys(cpu)
  const adapters = [...new Set(ids.flatMap((id) => Object.keys(cpu[id])))].filter(
    (adapter) => adapter === 'fastify' || adapter.startsWith('portico'),
  )
  const cell = (figure) => (figure === undefined ? '' : figure.ratio.median.toFixed(2))
  const rows = adapters.flatMap((adapter) =>
    runs.map((run) => [
      nameOf(adapter),
      String(majorOf(run)),
      ...ids.map((id) => cell(run.cpu[id]?.[adapter])),
    ]),
  )
  return [
    'CPU per request against bare `node:http` of the same version of Node, medians.',
    table(['', 'Node', ...ids], rows),
    ...runs.map(missedGoals),
  ].join('\n\n')
}

function missedGoals({ machine, goals }) {
  const missed = goals.filter(({ reached }) => !reached)
  const texts = missed.map(
    ({ title, figure, limit }) => `${title}: ${rounded(figure)}, limit ${rounded(limit)}`,
  )
  const list = texts.map((text) => `\n- ${text}`).join('')
  return `Node ${machine.node}: ${goals.length - missed.length} of ${goals.length} goals are met.${list && ` Missed:${list}`}`
}

function details(runs) {
  return runs
    .map((run) => `## Node ${run.machine.node}\n\n${tables(run)}\n\n${goalTable(run.goals)}`)
    .join('\n\n')
}

function tables(results) {
  const { machine, date } = results
  const binding = machine.pinned
    ? 'the servers on one core, the generator on another'
    : 'not bound to cores'
  const title = `${machine.cpu}, ${machine.cores} cores, ${machine.system}; ${binding}; ${date}.`
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

function goalTable(goals) {
  const rows = goals.map(({ title, figure, limit, reached, strict }) => [
    title,
    rounded(figure),
    `${strict ? '<' : '<='} ${rounded(limit)}`,
    reached ? 'ok' : 'MISSED',
  ])
  return goals.length === 0 ? '' : table(['goal', 'measured', 'limit', ''], rows)
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
  return `CPU per request (in parentheses: \`node:http\` in the same turns), and requests per second under this load.\n\n${byAdapter(cpu, cell)}`
}

function byAdapter(cpu, cell) {
  const ids = Object.keys(cpu)
  const adapters = [...new Set(ids.flatMap((id) => Object.keys(cpu[id])))]
  const rows = adapters.map((adapter) => [
    nameOf(adapter),
    ...ids.map((id) => (cpu[id][adapter] === undefined ? '' : cell(cpu[id][adapter]))),
  ])
  return table(['', ...ids], rows)
}

function wholeRunTables(results) {
  if (results.starts === undefined) return []
  return [
    resourceTable(results),
    programLine(results),
    tailTable(results),
    idleTable(results),
    busyTable(results),
    scaleTable(results),
    routesTable(results),
    `W5 against W1, both with Portico: **${spread(results.scaleRatio.ratio)}**`,
    workersTable(results),
    reportLine(results),
  ]
}

function resourceTable({ starts, memory, disk }) {
  const rows = Object.keys(starts).map((adapter) => [
    nameOf(adapter),
    `${starts[adapter].toFixed(0)} ms`,
    mib(memory[adapter]),
    String(disk[adapter].packages),
    `${grouped(disk[adapter].bytes / KIB)} KiB`,
  ])
  return table(
    ['', 'start to first response', 'resident after load', 'packages', 'installed'],
    rows,
  )
}

function programLine({ programs }) {
  return `\`node dist/server.js\` to the first response: ${programs.portico.toFixed(1)} ms; a program with bare \`node:http\`: ${programs.bare.toFixed(1)} ms.`
}

function tailTable({ tails: { rate, rows } }) {
  const cells = Object.entries(rows).map(([adapter, { p50, p99, p999, scavenges }]) => [
    nameOf(adapter),
    ...[p50, p99, p999].map((ms) => `${ms.toFixed(2)} ms`),
    grouped(scavenges),
  ])
  const header = ['', 'p50', 'p99', 'p99.9', 'scavenges per 100,000']
  return `Latency of W1 at ${grouped(rate)} requests per second, 70 % of the capacity of bare \`node:http\`.\n\n${table(header, cells)}`
}

function idleTable({ idle }) {
  const counts = Object.keys(idle.bare)
  const cell = (adapter, count) => {
    const bytes = idle[adapter][count]
    if (bytes === undefined) return ''
    return `${grouped(bytes)} bytes (${(bytes / idle.bare[count]).toFixed(2)})`
  }
  const rows = Object.keys(idle).map((adapter) => [
    nameOf(adapter),
    ...counts.map((count) => cell(adapter, count)),
  ])
  return `Heap of each idle connection (against bare).\n\n${table(['', ...counts.map((count) => `of ${grouped(count)}`)], rows)}`
}

function busyTable({ busy }) {
  const header = busy.bare.steps.map(({ requests }) => `resident after ${grouped(requests)} W1`)
  const rows = Object.entries(busy).map(([adapter, { steps, heapBytes }]) => [
    nameOf(adapter),
    ...steps.map(({ bytes }) => mib(bytes)),
    mib(steps.at(-1).youngBytes),
    mib(heapBytes),
  ])
  return `64 busy connections.\n\n${table(['', ...header, 'young generation', 'heap at the end'], rows)}`
}

function routesTable({ routes }) {
  const rows = routes.map(({ routes: count, ns }) => [grouped(count), `${grouped(ns)} ns`])
  const title = 'Time of a request in process that no named route matches, by the number of routes.'
  return `${title}\n\n${table(['routes', 'one URL'], rows)}`
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

function mib(bytes) {
  return `${(bytes / MIB).toFixed(1)} MiB`
}

function grouped(number) {
  return Math.round(number).toLocaleString('en')
}

function rounded(number) {
  return number >= 100 ? grouped(number) : String(Math.round(number * 1_000) / 1_000)
}
