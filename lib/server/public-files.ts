import { Readable } from 'node:stream'
import { MAX_ELEMENTS } from '../http/accept.ts'
import { checkOptions, FUNCTION, type Kind, OBJECT, STRING } from '../http/check-options.ts'
import { HttpError } from '../http/errors.ts'
import { type HttpRequest, withState } from '../http/request.ts'
import { splitTarget, withoutOrigin } from '../http/request-line.ts'
import { headerOf } from '../http/request-readers.ts'
import { HttpResponse } from '../http/response.ts'
import { checkedHeaders, type HeaderValue, setMissing } from '../http/response-headers.ts'
import { fillIn } from './file-response.ts'
import { type Handler, respondBy } from './handler.ts'
import { listPublicFolder, type PublicFile } from './public-folder.ts'
import { type CacheUse, StoredFile } from './stored-file.ts'

/** Options of {@link withPublicFiles}. */
export interface PublicFilesOptions {
  /**
   * The header `Cache-Control` of all files, or a function that returns it for the path of a file, such as
   * `/css/site.css` (default `no-cache`: the client asks before each use whether the file has changed).
   */
  readonly cacheControl?: string | ((path: string) => string) | undefined
  /** The path prefix of the files in URLs, in whole segments, such as `/app` (default none). */
  readonly basePath?: string | undefined
  /**
   * Further headers of the files, such as those for security (default none). Those that this handler sets take
   * precedence.
   */
  readonly headers?: Readonly<Record<string, HeaderValue>> | undefined
}

// The error codes of a file that was deleted after the start, and of one whose path, or a part of it, was replaced by a folder,
// a file, or a link to itself.
const MISSING: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP']

const CACHE_CONTROL: Kind = [
  'a string or a function',
  (value) => STRING[1](value) || FUNCTION[1](value),
]

interface Entry {
  readonly path: string
  readonly type: string
  readonly original: StoredFile
  readonly variants: ReadonlyMap<string, StoredFile>
}

/**
 * Returns a handler that sends a file of a folder if the path of a request names one, and lets another handler respond
 * otherwise.
 *
 * The folder is listed once: nothing of a request is part of a path of the file system. Names that start with a dot are
 * left out, except `/.well-known`, and so are links that lead out of the folder. Responds only to GET and HEAD, with
 * the conditions of RFC 9110 and one range of bytes. A client that accepts the encoding gets `app.js.br` or `app.js.gz`
 * in place of `app.js`.
 *
 * @throws {Error} If the folder cannot be read.
 * @throws {TypeError} If an option or a header is invalid.
 */
export function withPublicFiles(
  handler: Handler,
  folder: string,
  options: PublicFilesOptions = {},
): Handler {
  checkOptions('options', options, {
    cacheControl: CACHE_CONTROL,
    basePath: STRING,
    headers: OBJECT,
  })
  return sendFiles(handler, listPublicFolder(folder, options.basePath ?? ''), options)
}

/**
 * Like {@link withPublicFiles}, for a folder that is listed already.
 *
 * @internal
 * @throws {TypeError} If a header is invalid.
 */
export function sendFiles(
  handler: Handler,
  files: ReadonlyMap<string, PublicFile>,
  options: PublicFilesOptions,
): Handler {
  const { cacheControl = 'no-cache' } = options
  const cacheControlOf = typeof cacheControl === 'string' ? () => cacheControl : cacheControl
  const defaults = checkedHeaders(options.headers ?? {})
  const entries = toEntries(files)
  const find = (request: HttpRequest): Entry | undefined => entries.get(publicPathOf(request))
  const pass = (request: HttpRequest): HttpResponse | Promise<HttpResponse> =>
    respondBy(handler, request)
  const respond = (request: HttpRequest): HttpResponse | Promise<HttpResponse> => {
    const entry = find(request)
    if (entry === undefined) return pass(request)
    const file = send(entry, request, cacheControlOf, pass)
    if (defaults.length === 0) return file
    return file.then((response) => {
      setMissing(response.headers, defaults)
      return response
    })
  }
  return {
    handle: async (request) => respond(request),
    respond,
    report(error, { request, ...about }) {
      // The path of a file is not secret: without the path, the report would not show which file failed.
      const isFile = request !== undefined && find(request) !== undefined
      handler.report?.(error, {
        ...about,
        request: isFile ? withState(request, { path: '/' }) : request,
      })
    },
    flush: () => handler.flush?.(),
    ...(handler.serves && {
      serves: (request) => find(request) !== undefined || handler.serves?.(request) === true,
    }),
  }
}

function toEntries(files: ReadonlyMap<string, PublicFile>): ReadonlyMap<string, Entry> {
  const cache: CacheUse = { bytes: 0 }
  const entries = [...files].map(([key, { path, file, type, variants }]) => {
    const original = new StoredFile(file, '', cache)
    const stored = [...variants].map(
      ([encoding, variant]) => [encoding, new StoredFile(variant, encoding, cache)] as const,
    )
    return [key, { path, type, original, variants: new Map(stored) }] as const
  })
  return new Map(entries)
}

// Matches an encoded slash, letter, digit, `-`, `.` or `_`. Older programs encode a `~`.
const UNNECESSARY = /%(?:2[d-f]|3\d|[46][1-9a-f]|[57][\da]|5f)/i

/**
 * Returns the decoded path of a request that a file may respond to, else ''. A path that encodes what needs no encoding names no
 * file: `/%61dmin` would pass the rule of a proxy for `/admin`.
 */
export function publicPathOf(request: HttpRequest): string {
  const { method, target, rejection } = request
  if ((method !== 'GET' && method !== 'HEAD') || rejection !== undefined) return ''
  const path = withoutOrigin(splitTarget(target).path)
  if (!path.includes('%')) return path
  try {
    return UNNECESSARY.test(path) ? '' : decodeURIComponent(path)
  } catch {
    // An escape is malformed, or is not UTF-8.
    return ''
  }
}

async function send(
  entry: Entry,
  request: HttpRequest,
  cacheControlOf: (path: string) => string,
  pass: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { path, original, variants } = entry
  const accepted = headerOf(request, 'accept-encoding') ?? ''
  const sendAs = (encoding: string, stored: StoredFile): Promise<HttpResponse> =>
    sendStored(stored, responseFor(entry, encoding, cacheControlOf(path)), request)
  try {
    // In the order of ENCODINGS: the preferred one first.
    for (const [encoding, stored] of variants) {
      if (!acceptsEncoding(accepted, encoding)) continue
      const { modifiedMs } = await original.read()
      try {
        // A file older than its original is stale.
        if ((await stored.read()).modifiedMs >= modifiedMs) return await sendAs(encoding, stored)
      } catch {
        // A file that cannot be read counts as absent.
      }
    }
    return await sendAs('', original)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (MISSING.includes(code)) return pass(request)
    if (code !== 'EACCES') throw error
    const rejection = new HttpError(403, 'The file cannot be read', { cause: error })
    return pass(withState(request, { rejection }))
  }
}

async function sendStored(
  stored: StoredFile,
  response: HttpResponse,
  request: HttpRequest,
): Promise<HttpResponse> {
  const state = await stored.read()
  const { content } = state
  if (content !== undefined) {
    return fillIn(response, request, state, (start, end) => content.subarray(start, end + 1))
  }
  // HEAD needs the length only.
  if (request.method === 'HEAD') return fillIn(response, request, state, () => Readable.from([]))
  const { state: opened, handle } = await stored.open()
  // The stream closes the file. An empty file has no last byte.
  fillIn(response, request, opened, (start, end) =>
    handle.createReadStream({ start, end: Math.max(start, end) }),
  )
  if (response.body === undefined) await handle.close()
  return response
}

// A weight of 0 rejects an encoding.
function acceptsEncoding(accepted: string, encoding: string): boolean {
  const element = accepted
    .toLowerCase()
    .split(',', MAX_ELEMENTS)
    .map((each) => each.split(';', 2).map((part) => part.trim()))
    .find(([name]) => name === encoding)
  return element !== undefined && !/^q=0(?:\.0{0,3})?$/.test(element[1] ?? '')
}

function responseFor(
  { type, variants }: Entry,
  encoding: string,
  cacheControl: string,
): HttpResponse {
  const response = new HttpResponse()
  const { headers } = response
  headers.set('Cache-Control', cacheControl)
  if (variants.size > 0) headers.set('Vary', 'Accept-Encoding')
  headers.set('Content-Type', type).set('X-Content-Type-Options', 'nosniff')
  if (encoding !== '') headers.set('Content-Encoding', encoding)
  return response
}
