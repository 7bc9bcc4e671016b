// Times W1 without a socket: rewrite, route, look-up and dispatch. After a build: node bench/in-process.js

import { fileURLToPath } from 'node:url'
import { HttpRequest } from '../dist/lib/index.js'
import { createFront } from './adapters/portico.js'
import { quantile } from './statistics.js'

/** Returns nanoseconds per request of W1: the median and the best of the rounds. */
export async function timeInProcess({ rounds = 15, requests = 200_000 } = {}) {
  const front = createFront({ controllers: 20 })
  const targets = ['/news/list']
  await timeRequests(front, targets, requests)
  const ns = []
  for (let i = 0; i < rounds; i++) ns.push(await timeRequests(front, targets, requests))
  return { median: quantile(ns, 0.5), best: quantile(ns, 0) }
}

/** Sends requests for the targets in turn, and returns nanoseconds per request. */
export async function timeRequests(front, targets, requests) {
  let failed = 0
  const startedAt = process.hrtime.bigint()
  for (let i = 0; i < requests; i++) {
    const response = await front.handle(new HttpRequest({ target: targets[i % targets.length] }))
    if (response.status !== 200) failed++
  }
  const ns = Number(process.hrtime.bigint() - startedAt) / requests
  if (failed > 0) throw new Error(`${failed} responses had another status than 200`)
  return ns
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { median, best } = await timeInProcess()
  console.log(`W1 in process: median ${Math.round(median)} ns, best ${Math.round(best)} ns`)
}
