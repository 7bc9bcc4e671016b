import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, cpus, release, type } from 'node:os'

/** What the figures were measured on. */
export function describeMachine() {
  const list = cpus()
  return {
    cpu: list[0]?.model.trim() ?? arch(),
    cores: list.length,
    node: process.version,
    system: `${type()} ${release().split('-')[0]} ${arch()}`,
  }
}

/**
 * The core of the servers and that of the generator.
 *
 * @returns undefined where processes can't be bound to a core, or where there is but one.
 */
export function divideCores() {
  const allowed = allowedCores()
  if (allowed.length < 2) return undefined
  const [generator] = allowed
  try {
    execFileSync('taskset', ['-a', '-p', '-c', String(generator), String(process.pid)])
    return { server: String(allowed.at(-1)), all: allowed.join(',') }
  } catch {
    return undefined
  }
}

function allowedCores() {
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    return /^Cpus_allowed_list:\s*(\S+)/m.exec(status)[1].split(',').flatMap(range)
  } catch {
    return []
  }
}

function range(text) {
  const [first, last = first] = text.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}
