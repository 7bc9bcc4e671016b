import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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
    const exchange = new Exchange(message, out)
    handler
      .handle(new HttpRequest(exchange))
      .then((response) => exchange.send(response, closing()))
      .catch(() => exchange.fail())
  }
}

// One message of node:http and its answer. A request is made from it; what nobody asks for is not.
class Exchange implements HttpRequestInit {
  readonly #message: IncomingMessage
  readonly #out: ServerResponse
  // Kept from the start: a message that was destroyed has none.
  readonly #socket: Socket
  #signal: AbortSignal | undefined

  constructor(message: IncomingMessage, out: ServerResponse) {
    this.#message = message
    this.#out = out
    this.#socket = message.socket
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
    this.#signal ??= this.#closeSignal()
    return this.#signal
  }

  send(response: HttpResponse, closing: boolean): void {
    if (this.#socket.destroyed) {
      response.discard()
      return
    }
    const { body, status } = response
    const fields = fieldsOf(response)
    // What is left unread of a body must not be taken for the next request.
    if (closing || !this.#message.complete) fields.push('Connection', 'close')
    if (status === 204 || status === 304) {
      response.discard()
      this.#out.writeHead(status, fields).end()
    } else if (body instanceof Readable) {
      this.#stream(body, response, fields)
    } else {
      fields.push('Content-Length', String(Buffer.byteLength(body ?? '')))
      this.#out.writeHead(status, fields).end(this.method === 'HEAD' ? undefined : body)
    }
  }

  /** The handler failed, or its response can't be written: nothing better can be said. */
  fail(): void {
    if (this.#out.headersSent) this.#socket.destroy()
    else this.#out.writeHead(500, ['Content-Length', '0']).end()
  }

  #stream(body: Readable, response: HttpResponse, fields: string[]): void {
    const length = response.headers.get('Content-Length')
    if (length !== undefined) fields.push('Content-Length', length)
    // Said aloud, so that HEAD says it too.
    else if (this.#message.httpVersion === '1.1') fields.push('Transfer-Encoding', 'chunked')
    this.#out.writeHead(response.status, fields)
    if (this.method === 'HEAD') {
      response.discard()
      this.#out.end()
      return
    }
    const onClose = (): unknown => body.destroy()
    const done = (): unknown => this.#socket.off('close', onClose)
    this.#socket.once('close', onClose)
    // The headers have left: all that an error can do now is to end the connection, and pipeline does.
    if (length === undefined) pipeline(body, this.#out, done)
    else pipeline(body, exactly(Number(length)), this.#out, done)
  }

  // By the socket: a response that waits behind another one on the connection never hears of its end.
  #closeSignal(): AbortSignal {
    const controller = new AbortController()
    const onClose = (): void => controller.abort(new Error('The client has gone away'))
    if (this.#socket.destroyed) onClose()
    else {
      this.#socket.once('close', onClose)
      this.#out.once('finish', () => this.#socket.off('close', onClose))
    }
    return controller.signal
  }
}

// What is more than declared would be read as the beginning of the next answer.
function exactly(length: number) {
  return async function* (chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer | string> {
    let left = length
    for await (const chunk of chunks) {
      left -= Buffer.byteLength(chunk)
      if (left < 0) break
      yield chunk
    }
    if (left !== 0) throw new Error('The body is not as long as its Content-Length')
  }
}

function fieldsOf(response: HttpResponse): string[] {
  const fields: string[] = []
  for (const [name, value] of response.headers) {
    if (name.toLowerCase() === 'content-length') continue
    for (const each of [value].flat()) fields.push(name, each)
  }
  return fields
}
