import { type HttpRequest, stateOf } from '../http/request.ts'
import type { HttpResponse, ResponseBody } from '../http/response.ts'
import { isNotModified, isOtherVersion, isRangeCurrent, rangeOf } from './conditions.ts'
import type { FileState } from './stored-file.ts'

/**
 * Fills in the response with a file: its status depends on the conditions and the range of the request.
 *
 * @param part Returns the bytes from `start` to `end`, both included. Called only if they are sent.
 */
export function fillIn(
  response: HttpResponse,
  request: HttpRequest,
  state: FileState,
  part: (start: number, end: number) => ResponseBody,
): HttpResponse {
  stateOf(request).message.isPublicFile = true
  const { bytes, etag, modifiedMs } = state
  const { headers } = response
  headers.set('ETag', etag).set('Last-Modified', new Date(modifiedMs).toUTCString())
  headers.set('Accept-Ranges', 'bytes')
  if (isOtherVersion(request, state)) return withoutContent(response, 412)
  if (isNotModified(request, state)) return withoutContent(response, 304)
  const range = isRangeCurrent(request, state) ? rangeOf(request, bytes) : undefined
  if (range === 'unsatisfiable') {
    headers.set('Content-Range', `bytes */${bytes}`)
    return withoutContent(response, 416)
  }
  const { start, end } = range ?? { start: 0, end: bytes - 1 }
  if (range !== undefined) {
    response.status = 206
    headers.set('Content-Range', `bytes ${start}-${end}/${bytes}`)
  }
  headers.set('Content-Length', end - start + 1)
  response.body = part(start, end)
  return response
}

function withoutContent(response: HttpResponse, status: number): HttpResponse {
  response.status = status
  // A cache must not keep an error for as long as the file.
  if (status > 400) response.headers.set('Cache-Control', 'no-store')
  response.headers.delete('Content-Type')
  response.headers.delete('Content-Encoding')
  return response
}
