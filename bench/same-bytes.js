// Checks that all servers send the same response, so that they do the same work.

import assert from 'node:assert/strict'
import { probe } from './load.js'
import { NOT_FOUND_HEADERS, notFoundPage } from './page.js'
import { requestOf, workloads } from './workloads.js'

/**
 * Sends the request of a workload to a server, and compares the response with the expected one.
 *
 * @throws {assert.AssertionError} If the status, the type, the body or a header of the error page differs.
 */
export async function checkResponse(adapter, id, port) {
  const { expected } = workloads[id]
  const request = await requestOf(id)
  // The page of the first error has the id by which the log can be searched. The log only counts the others.
  await probe(port, request)
  const { status, headers, body } = await probe(port, request)
  const actual = { status, type: typeOf(headers), body }
  const page = expected.body ?? notFoundPage('signin')
  assert.deepEqual(actual, { ...expected, body: page }, `${adapter} has another response to ${id}`)
  if (expected.status === 404) checkHeaders(adapter, headers)
}

function checkHeaders(adapter, headers) {
  for (const [name, value] of Object.entries(NOT_FOUND_HEADERS)) {
    // Its spelling differs between the frameworks; typeOf() has compared the media type.
    if (name === 'Content-Type') continue
    assert.equal(headers.get(name.toLowerCase()), value, `${adapter} sends another ${name}`)
  }
}

function typeOf(headers) {
  return headers.get('content-type')?.split(';')[0].trim().toLowerCase()
}
