import assert from 'node:assert/strict'
import { probe } from './load.js'
import { notFoundPage, PAGE_HEADERS } from './page.js'
import { workloads } from './workloads.js'

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Whether a server answers with the bytes that all answer with: throws where it does not. */
export async function checkBytes(adapter, id, port) {
  const { request, expected } = workloads[id]
  const { status, headers, body } = await probe(port, request)
  const answer = { status, type: typeOf(headers), body: body.replace(UUID, NO_ID) }
  const page = expected.body ?? notFoundPage('signin', NO_ID)
  assert.deepEqual(answer, { ...expected, body: page }, `${adapter} answers ${id} otherwise`)
  if (expected.status === 404) checkHeaders(adapter, headers)
}

function checkHeaders(adapter, headers) {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) {
    if (name === 'Content-Type') continue
    assert.equal(headers.get(name.toLowerCase()), value, `${adapter} answers with another ${name}`)
  }
}

function typeOf(headers) {
  return headers.get('content-type')?.split(';')[0].trim().toLowerCase()
}
