import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { HttpRequestInit } from './message.ts'
import { HttpRequest } from './request.ts'
import type { HttpResponse } from './response.ts'

/** Gives every request a response; a {@link FrontController} is one. */
export interface Handler {
  handle(request: HttpRequest): Promise<HttpResponse>
}

/** What a listener is told beside the handler. */
export interface ListenerOptions {
  /** Whether the server is about to stop: answers then say `Connection: close` (default: it is not). */
  readonly closing?: (() => boolean) | undefined
}

/**
 * A listener for `node:http` that answers every request through a handler.
 *
 * @example
 * createServer(createRequestListener(front)).listen(3000)
 */
export function createRequestListener(
  handler: Handler,
  { closing = () => false }: ListenerOptions = {},
): RequestListener {
  return (message, out) => {
    handler
      .handle(new HttpRequest(new IncomingView(message, out)))
      .then((response) => send(response, message, out, closing()))
      .catch(() => {
        // The handler failed, or its response can't be written: nothing better can be said.
        if (out.headersSent) out.destroy()
        else out.writeHead(500, { 'Content-Length': 0 }).end()
      })
  }
}

// node:http's message as a request is made from it: what nobody asks for is not made.
class IncomingView implements HttpRequestInit {
  readonly #message: IncomingMessage
  readonly #out: ServerResponse
  #signal: AbortSignal | undefined

  constructor(message: IncomingMessage, out: ServerResponse) {
    this.#message = message
    this.#out = out
  }

  get method(): string {
    return this.#message.method ?? 'GET'
  }

  get target(): string {
    return this.#message.url ?? '/'
  }

  get headers(): IncomingMessage['headers'] {
    return this.#message.headers
  }

  get body(): Readable {
    return this.#message
  }

  get signal(): AbortSignal {
    this.#signal ??= closeSignal(this.#message, this.#out)
    return this.#signal
  }
}

// By the socket: a response that waits behind another one on the connection never hears of its end.
function closeSignal({ socket }: IncomingMessage, out: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const onClose = (): void => controller.abort(new Error('The client has gone away'))
  if (socket.destroyed) onClose()
  else {
    socket.once('close', onClose)
    out.once('finish', () => socket.off('close', onClose))
  }
  return controller.signal
}

function send(
  response: HttpResponse,
  message: IncomingMessage,
  out: ServerResponse,
  closing: boolean,
): void {
  if (message.socket.destroyed) {
    response.discard()
    return
  }
  const { body, status } = response
  const fields = fieldsOf(response)
  // What is left unread of a body must not be taken for the next request.
  if (closing || !message.complete) fields.push('Connection', 'close')
  if (status === 204 || status === 304) {
    response.discard()
    out.writeHead(status, fields).end()
  } else if (body instanceof Readable) {
    stream(body, response, fields, message, out)
  } else {
    fields.push('Content-Length', String(Buffer.byteLength(body ?? '')))
    out.writeHead(status, fields).end(message.method === 'HEAD' ? undefined : body)
  }
}

function stream(
  body: Readable,
  response: HttpResponse,
  fields: string[],
  message: IncomingMessage,
  out: ServerResponse,
): void {
  const declared = response.headers.get('Content-Length')
  if (declared !== undefined) {
    fields.push('Content-Length', declared)
    // A body of another length would be read as the beginning of the next answer.
    out.strictContentLength = true
  } else if (message.httpVersion === '1.1') {
    // Said aloud, so that HEAD says it too.
    fields.push('Transfer-Encoding', 'chunked')
  }
  out.writeHead(response.status, fields)
  if (message.method === 'HEAD') {
    response.discard()
    out.end()
    return
  }
  // The headers have left: all that an error can do now is to end the connection, and pipeline does.
  const onClose = (): unknown => body.destroy()
  message.socket.once('close', onClose)
  pipeline(body, out, () => message.socket.off('close', onClose))
}

function fieldsOf(response: HttpResponse): string[] {
  const fields: string[] = []
  for (const [name, value] of response.headers) {
    if (name.toLowerCase() === 'content-length') continue
    for (const each of [value].flat()) fields.push(name, each)
  }
  return fields
}
