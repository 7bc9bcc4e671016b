// Starts programs that print the URL of their server in the first line, as `node dist/server.js` does.

import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { probe } from './load.js'
import { spawnBound } from './process.js'
import { median } from './statistics.js'
import { workloads } from './workloads.js'

const CONTROLLER = 'export const list = (_, response) => response.json({ ok: true })\n'
const { request } = workloads.W1
const PORTICO = fileURLToPath(new URL('../dist/server.js', import.meta.url))
const BARE = fileURLToPath(new URL('bare-program.js', import.meta.url))

/** Starts a program, and waits until its server listens. */
export async function startProgram(args, cores) {
  const child = spawnBound(args, cores, ['ignore', 'pipe', 'inherit'])
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, port: Number(new URL(JSON.parse(line).url).port) }
}

export async function stopProgram({ child }) {
  const exited = once(child, 'exit')
  child.kill()
  await exited
}

/** Calls a function with the arguments that start `node dist/server.js` with one controller. */
export async function withProgram(use) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
    writeFileSync(join(folder, 'news.js'), CONTROLLER)
    return await use([PORTICO, '--controllers', folder, '--port', '0'])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Starts `node dist/server.js` and a program with bare `node:http` several times, in turn. Returns the median milliseconds
 * from the start to the first response: `portico` and `bare`.
 */
export function timePrograms(starts, cores) {
  return withProgram(async (args) => {
    const times = { bare: [], portico: [] }
    for (let i = 0; i < starts; i++) {
      times.bare.push(await timeProgram([BARE], cores))
      times.portico.push(await timeProgram(args, cores))
    }
    return { bare: median(times.bare), portico: median(times.portico) }
  })
}

async function timeProgram(args, cores) {
  const startedAt = performance.now()
  const program = await startProgram(args, cores)
  await probe(program.port, request)
  const ms = performance.now() - startedAt
  await stopProgram(program)
  return ms
}
