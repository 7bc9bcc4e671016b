import type { Readable } from 'node:stream'
import { Cancellations } from './async.ts'
import {
  type BodyChunks,
  type BodySource,
  consumedBody,
  type FormBody,
  failedBody,
  isChunks,
  streamBody,
  tooLarge,
  toReadable,
} from './body.ts'
import { monotonicMs } from './clock.ts'
import { parseCookies } from './cookies.ts'
import type { HttpError } from './errors.ts'
import { parseSearch } from './params.ts'
import { splitTarget } from './request-line.ts'
import type { ResponseHeaders } from './response-headers.ts'

/** The headers of a request. Several values of one name have the same form as in `message.headers` of `node:http`. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The data of a request: a plain object in a test, or a view of a message from a connection. */
export interface HttpRequestInit {
  /** The method, in upper case (default `GET`). */
  readonly method?: string | undefined
  /** The request target as sent, such as `/news/list?page=2`. */
  readonly target: string
  /** An object or pairs (`Headers`, a list); names are case-insensitive (default none). */
  readonly headers?: RequestHeaders | Iterable<readonly [string, string]> | undefined
  /** Text, bytes, or a stream of them: a Node.js stream, a web `ReadableStream`, an async iterable (default ''). */
  readonly body?: BodySource | BodyChunks | undefined
  /** A signal of this request alone, which aborts when the client closes the connection. */
  readonly signal?: AbortSignal | undefined
  /** Whether the client has closed the connection (default: whether the signal or the body is aborted). */
  readonly aborted?: boolean | undefined
  /** The address of the peer (default ''). */
  readonly remoteAddress?: string | undefined
  /** The protocol of the connection (default `http`). */
  readonly protocol?: 'http' | 'https' | undefined
  /** The error that rejects the message because of its framing (default none). */
  readonly rejection?: HttpError | undefined
}

/** The type of `request.state`. An application adds its properties by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: an application fills it in.
export interface SharedState {}

/** Instructions of an action or a plugin for the response and the report of its request. @internal */
export interface Ending {
  /** Changes the headers of the complete response, even of an error response. Must not throw. */
  readonly finish?: ((headers: ResponseHeaders) => void) | undefined
  /** JSON of the values besides those of the message that no report may show, such as the tokens of a sign-in. */
  readonly secrets?: readonly string[] | undefined
  /** Whether no page may show a parameter, also in development. */
  readonly hidesParams?: boolean | undefined
}

/** The error of a request, as its report shows it. @internal */
export interface Reported {
  /** The exception that has the fingerprint. */
  readonly exception: Error | undefined
  readonly fingerprint: string
  /** The id of the request; undefined if the log has no error of it. */
  id: string | undefined
}

// The names in lower case, and the values.
type Fields = readonly (readonly [name: string, value: RequestHeaders[string]])[]

/** The data of a request, and what has been parsed from it. All requests over one message share it. */
export class Message {
  readonly method: string
  readonly target: string
  /** When the message arrived, by {@link monotonicMs}. */
  readonly arrivedAt: number = monotonicMs()
  readonly source: HttpRequestInit & {
    readonly rawFields?: Fields
    readonly awaitsBody?: boolean
    /** Returns a header by its lower-case name (default: reads `headers`). */
    readonly header?: ((name: string) => string | undefined) | undefined
  }
  #headers: RequestHeaders | undefined
  #query: URLSearchParams | undefined
  #id: string | undefined
  #body: Readable | undefined
  #stream: { body: Readable; maxBytes: number; form: FormBody | undefined } | undefined
  #cookies: ReadonlyMap<string, string> | undefined
  #state: SharedState | undefined
  #cancellations: Cancellations | undefined
  /** The bytes of the JSON body that the application has read. */
  json: Buffer | undefined
  /** The form. The report of a request from before it was read needs it. */
  form: FormBody | undefined
  /** @internal */
  ending: Ending | undefined
  /** Whether the application has chosen a media type by `Accept`. */
  isNegotiated = false
  /** @internal */
  reported: Reported | undefined
  /** Whether the response is a public file. */
  isPublicFile = false

  constructor(init: HttpRequestInit) {
    if (typeof init?.target !== 'string') {
      throw new TypeError('A request needs a "target", such as "/news/list"')
    }
    this.source = init
    this.method = init.method ?? 'GET'
    this.target = init.target
  }

  get id(): string {
    this.#id ??= crypto.randomUUID()
    return this.#id
  }

  get headers(): RequestHeaders {
    this.#headers ??= lowerCased(this.source.headers ?? {})
    return this.#headers
  }

  /** The header fields as they were sent: code may change the object `headers`. */
  get sentFields(): Fields {
    const { rawFields, headers = {} } = this.source
    return rawFields ?? Object.entries(lowerCased(headers))
  }

  header(name: string): string | undefined {
    if (this.source.header !== undefined) return this.source.header(name)
    const value = this.headers[name]
    return value === undefined ? undefined : String(value)
  }

  get cookies(): ReadonlyMap<string, string> {
    this.#cookies ??= parseCookies(this.header('cookie'))
    return this.#cookies
  }

  get state(): SharedState {
    this.#state ??= Object.create(null) as SharedState
    return this.#state
  }

  /** The controllers of the signals. */
  get cancellations(): Cancellations {
    this.#cancellations ??= new Cancellations(this.source)
    return this.#cancellations
  }

  /** Adds values that no report about the message may show, as they are now: the application may change an object. */
  hide(...secrets: readonly unknown[]): void {
    const { ending } = this
    // A failure may hide the same values again.
    const all = new Set(ending?.secrets).add(JSON.stringify(secrets))
    this.ending = { ...ending, secrets: [...all] }
  }

  /** Hides the cookies that a response has set: an error may quote one, such as that of a new session. */
  hideCookies(headers: ResponseHeaders | undefined): void {
    // `has` may be missing: a handler may return any object. Iterating takes longer.
    if (!headers?.has?.('Set-Cookie')) return
    for (const [name, value] of headers) {
      if (name.toLowerCase() !== 'set-cookie') continue
      // A line may have several cookies, as fetch() joins them.
      const cookies = [value]
        .flat()
        .flatMap((line) => [...line.matchAll(/(?:^|, )[^=;,]*=([^;]*)/g)])
      this.hide(cookies.map(([, each]) => each))
    }
  }

  /** Reports whether the declared length of the body is larger than a limit, in bytes. */
  isDeclaredLonger(maxBytes: number): boolean {
    return Number(this.header('content-length')) > maxBytes
  }

  /** Whether the client has closed the connection, or its event stream has been ended. */
  get aborted(): boolean {
    const { source } = this
    // Not by destructuring: over a connection, reading `signal` creates one, which took a quarter of W4.
    if (source.aborted !== undefined) return source.aborted
    const body = source.body as Partial<Readable> | undefined
    return source.signal?.aborted || body?.readableAborted || false
  }

  get query(): URLSearchParams {
    this.#query ??= parseSearch(splitTarget(this.target).search)
    return this.#query
  }

  get body(): BodySource {
    const body = this.source.body ?? ''
    if (!isChunks(body)) return body
    this.#body ??= toReadable(body)
    return this.#body
  }

  /** The source of the body, or the stream of it that a plugin has taken before. */
  get unreadBody(): BodySource {
    return this.#stream?.body ?? this.body
  }

  /**
   * Returns the body as a stream, within a limit. Returns the same stream until it ends: a body can be read only once.
   *
   * @param form The form that was read, whose bytes can be read again.
   */
  streamOf(maxBytes: number, form: FormBody | undefined): Readable {
    const known = this.#stream
    const isSame = known?.maxBytes === maxBytes && known.form === form
    if (isSame && !known.body.destroyed && !known.body.readableEnded) return known.body
    if (form === undefined && known?.form === undefined) {
      // A body that failed fails again with the same error.
      if (known?.body.errored) return failedBody(known.body.errored)
      if (known?.body.readableDidRead) return consumedBody()
    }
    // The old stream would keep the bytes that the new one reads.
    known?.body.destroy()
    const body =
      form === undefined && this.isDeclaredLonger(maxBytes)
        ? failedBody(tooLarge(maxBytes))
        : streamBody(form?.bytes ?? this.body, maxBytes)
    this.#stream = { body, maxBytes, form }
    return body
  }
}

function lowerCased(headers: NonNullable<HttpRequestInit['headers']>): RequestHeaders {
  const lower: Record<string, string | readonly string[] | undefined> = Object.create(null)
  const entries = Symbol.iterator in headers ? headers : Object.entries(headers)
  for (const [name, value] of entries as Iterable<[string, (typeof lower)[string]]>) {
    lower[name.toLowerCase()] = value
  }
  return lower
}
