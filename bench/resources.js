import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Load, probe } from './load.js'
import { residentBytes, ServerProcess } from './process.js'
import { median } from './statistics.js'
import { workloads } from './workloads.js'

// What a server takes beside CPU: time to start, memory, and room on the disk.

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BENCH = fileURLToPath(new URL('.', import.meta.url))
const { request } = workloads.W1

/** Milliseconds from the start of each process to its first answer: in turns, the median of each. */
export async function timeStarts(adapters, times, core) {
  const taken = new Map(adapters.map((adapter) => [adapter, []]))
  for (let i = 0; i < times; i++) {
    for (const adapter of adapters) taken.get(adapter).push(await timeStart(adapter, core))
  }
  return Object.fromEntries([...taken].map(([adapter, ms]) => [adapter, median(ms)]))
}

async function timeStart(adapter, core) {
  const startedAt = performance.now()
  const server = await ServerProcess.start(adapter, 'W1', { core })
  await probe(server.port, request)
  const ms = performance.now() - startedAt
  await server.stop()
  return ms
}

/** Bytes in memory after so many requests, the median of so many processes. */
export async function residentAfterLoad(adapter, { requests, processes }, core) {
  const bytes = []
  for (let i = 0; i < processes; i++) {
    bytes.push(await withServer(adapter, { core }, (server) => loadAndLook(server, requests)))
  }
  return median(bytes)
}

async function loadAndLook(server, requests) {
  const load = await Load.open(server.port, request)
  await load.run(requests)
  const bytes = await residentBytes(server)
  load.close()
  return bytes
}

/** Bytes on the heap per 1,000 connections, each of which has had one answer. */
export function heapOfIdleConnections(adapter, connections, core) {
  return withServer(adapter, { core, nodeOptions: ['--expose-gc'] }, async (server) => {
    // What the first requests leave behind is not the connections' own.
    const warm = await Load.open(server.port, request)
    await warm.run(5_000)
    const before = await server.ask('memory')
    const idle = await Load.open(server.port, request, { connections })
    await idle.run(connections)
    const after = await server.ask('memory')
    warm.close()
    idle.close()
    return ((after.heapUsed - before.heapUsed) / connections) * 1_000
  })
}

async function withServer(adapter, options, use) {
  const server = await ServerProcess.start(adapter, 'W1', options)
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** What `npm pack` puts into the package. */
export function packed() {
  const command = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']
  const [{ unpackedSize }] = JSON.parse(execFileSync('npm', command, { cwd: ROOT }))
  return { packages: 1, bytes: unpackedSize }
}

/** What an application has installed that asks for these packages: them and all that they need. */
export function installed(names) {
  const { packages } = JSON.parse(readFileSync(`${BENCH}package-lock.json`, 'utf8'))
  const folders = new Set()
  for (const name of names) follow(packages, '', name, folders)
  const bytes = [...folders].reduce((sum, folder) => sum + ownBytes(`${BENCH}${folder}`), 0)
  return { packages: folders.size, bytes }
}

// As Node looks for it: from the folder of who asks up to the root.
function follow(packages, from, name, folders) {
  const folder = candidates(from, name).find((candidate) => candidate in packages)
  if (folder === undefined || folders.has(folder)) return
  folders.add(folder)
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[folder]
  const peers = Object.keys(peerDependencies).filter(
    (peer) => !peerDependenciesMeta[peer]?.optional,
  )
  for (const next of [...Object.keys(dependencies), ...peers]) {
    follow(packages, folder, next, folders)
  }
}

function candidates(from, name) {
  const folders = [from]
  for (let at = from.lastIndexOf('/node_modules/'); at > 0; ) {
    folders.push(from.slice(0, at))
    at = from.lastIndexOf('/node_modules/', at - 1)
  }
  if (from !== '') folders.push('')
  return folders.map((folder) => `${folder}${folder && '/'}node_modules/${name}`)
}

function ownBytes(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .map((entry) => `${folder}/${entry.name}`)
    .reduce((sum, path) => sum + bytesOf(path), 0)
}

function bytesOf(path) {
  const stat = statSync(path)
  return stat.isDirectory() ? ownBytes(path) : stat.size
}
