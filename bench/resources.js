// Measures the time to start, memory, and disk space.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Load, probe } from './load.js'
import { ServerProcess } from './process.js'
import { median } from './statistics.js'
import { workloads } from './workloads.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BENCH = fileURLToPath(new URL('.', import.meta.url))
const { request } = workloads.W1

/** Starts each server several times, in turn, and returns the median milliseconds from the start to the first response. */
export async function timeStarts(adapters, starts, core) {
  const msByAdapter = new Map(adapters.map((adapter) => [adapter, []]))
  for (let i = 0; i < starts; i++) {
    for (const [adapter, ms] of msByAdapter) ms.push(await timeStart(adapter, core))
  }
  return Object.fromEntries([...msByAdapter].map(([adapter, ms]) => [adapter, median(ms)]))
}

async function timeStart(adapter, core) {
  const startedAt = performance.now()
  const server = await ServerProcess.start(adapter, 'W1', { core })
  await probe(server.port, request)
  const ms = performance.now() - startedAt
  await server.stop()
  return ms
}

/** Returns the bytes in memory after a number of requests: the median of several processes. */
export async function residentAfterLoad(adapter, { requests, processes }, core) {
  const bytes = []
  for (let i = 0; i < processes; i++) {
    bytes.push(await withServer(adapter, { core }, (server) => residentAfter(server, requests)))
  }
  return median(bytes)
}

async function residentAfter(server, requests) {
  const load = await Load.open(server.port, request)
  await load.run(requests)
  const bytes = await server.residentBytes()
  load.close()
  return bytes
}

/** Returns the heap bytes of each idle connection that has received one response, after a garbage collection. */
export function heapOfIdleConnections(adapter, connections, core) {
  return withServer(adapter, { core, nodeOptions: ['--expose-gc'] }, async (server) => {
    await server.measure('keepOpen')
    // The first requests also create objects that do not belong to a connection.
    const warm = await Load.open(server.port, request)
    await warm.run(5_000)
    const before = await server.measure('memory')
    const idle = await openInBatches(server, connections)
    const after = await server.measure('memory')
    for (const load of [warm, ...idle]) load.close()
    return (after.heapUsed - before.heapUsed) / connections
  })
}

// Opens at most 500 connections at once: the queue of the listening socket holds 511.
async function openInBatches(server, connections) {
  const loads = []
  for (let rest = connections; rest > 0; rest -= 500) {
    const count = Math.min(rest, 500)
    const load = await Load.open(server.port, request, { connections: count })
    await load.run(count)
    loads.push(load)
  }
  return loads
}

/**
 * Returns the bytes in memory, the scavenges and the size of the young generation after each number of requests (`steps`), and
 * the bytes of the heap after the last one and a garbage collection (`heapBytes`), in one process.
 */
export function memoryUnderLoad(adapter, { connections, steps }, core) {
  return withServer(adapter, { core, nodeOptions: ['--expose-gc'] }, async (server) => {
    await server.measure('countScavenges')
    const load = await Load.open(server.port, request, { connections })
    const rows = []
    let done = 0
    for (const requests of steps) {
      await load.run(requests - done)
      done = requests
      const bytes = await server.residentBytes()
      rows.push({ requests, bytes, ...(await server.measure('collections')) })
    }
    const { heapUsed } = await server.measure('memory')
    load.close()
    return { steps: rows, heapBytes: heapUsed }
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

/** Returns the unpacked size of the package that `npm pack` would write. */
export function packedSize() {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']
  const [{ unpackedSize }] = JSON.parse(execFileSync('npm', args, { cwd: ROOT }))
  return { packages: 1, bytes: unpackedSize }
}

/** Returns the number and the size of some packages with all their dependencies, as installed in bench/. */
export function installedSize(names) {
  const { packages } = JSON.parse(readFileSync(`${BENCH}package-lock.json`, 'utf8'))
  const folders = new Set()
  for (const name of names) addWithDependencies(folders, packages, '', name)
  const bytes = [...folders].reduce((sum, folder) => sum + ownBytes(`${BENCH}${folder}`), 0)
  return { packages: folders.size, bytes }
}

function addWithDependencies(folders, packages, dependent, name) {
  const folder = candidateFolders(dependent, name).find((candidate) => candidate in packages)
  if (folder === undefined || folders.has(folder)) return
  folders.add(folder)
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[folder]
  const requiredPeers = Object.keys(peerDependencies).filter(
    (peer) => !peerDependenciesMeta[peer]?.optional,
  )
  for (const dependency of [...Object.keys(dependencies), ...requiredPeers]) {
    addWithDependencies(folders, packages, folder, dependency)
  }
}

// Returns the folders in which Node looks for a package: from the folder of the dependent package up to the root.
function candidateFolders(dependent, name) {
  const candidates = [`node_modules/${name}`]
  for (let end = dependent.indexOf('/node_modules/'); end > 0; ) {
    candidates.unshift(`${dependent.slice(0, end)}/node_modules/${name}`)
    end = dependent.indexOf('/node_modules/', end + 1)
  }
  if (dependent !== '') candidates.unshift(`${dependent}/node_modules/${name}`)
  return candidates
}

// Returns the size of a folder without the packages in its node_modules.
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
