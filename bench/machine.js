// Describes the machine, and divides its cores between the servers and the load generator.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, cpus, release, type } from 'node:os'

/** Returns the processor, the number of cores, the version of Node and the system. */
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
 * Binds this process, the load generator, to the first core.
 *
 * @returns The core for the servers, and all allowed cores; undefined if processes cannot be bound to a core, or if only
 *   one core is allowed.
 */
export function divideCores() {
  const allowed = allowedCores()
  if (allowed.length < 2) return undefined
  const [generator] = allowed
  try {
    execFileSync('taskset', ['-a', '-p', '-c', String(generator), String(process.pid)])
    return { server: String(allowed.at(-1)), all: allowed.join(',') }
  } catch {
    // There is no taskset, or it is not permitted: the benchmark runs without binding.
    return undefined
  }
}

function allowedCores() {
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    return /^Cpus_allowed_list:\s*(\S+)/m.exec(status)[1].split(',').flatMap(coresOf)
  } catch {
    // Only Linux has /proc.
    return []
  }
}

// Returns the cores of a range such as `0-3`, or of a single number.
function coresOf(range) {
  const [first, last = first] = range.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}
