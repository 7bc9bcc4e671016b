// Compares withPublicFiles() with sirv, after a build and `npm ci --prefix bench`: node bench/public-files.js

import { compare } from './compare.js'
import { divideCores } from './machine.js'
import { WARM } from './plan.js'

const PLAN = { rounds: 7, slices: 6, sliceMs: 120, ...WARM }

const subjects = ['public-sirv', 'public-portico'].map((adapter) => ({ adapter, workload: 'F1' }))
const [{ ratio, one, other }] = await compare(subjects, PLAN, divideCores()?.server)
const rows = [
  ['withPublicFiles()', one],
  ['sirv', other],
]
for (const [name, { cpuNs, requestsPerSecond }] of rows) {
  const us = (cpuNs / 1_000).toFixed(1)
  console.log(
    `${name}: ${us} µs of CPU for a request, ${Math.round(requestsPerSecond)} requests a second`,
  )
}
const { median, q1, q3 } = ratio
console.log(`CPU against sirv: ${median.toFixed(2)} (${q1.toFixed(2)} to ${q3.toFixed(2)})`)
