import type { BodySource } from './body.ts'
import { parseSearch } from './params.ts'
import { splitTarget } from './rewrite.ts'

/** The headers of a request; several values of one name as `node:http` gives them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What a request is made from: in a test a plain object, on the wire a view of the message. */
export interface HttpRequestInit {
  /** The method, in upper case (default `GET`). */
  readonly method?: string | undefined
  /** The request target as it was sent, such as `/news/list?page=2`. */
  readonly target: string
  /** Names in any case (default: none). */
  readonly headers?: RequestHeaders | undefined
  readonly body?: BodySource | undefined
  /** Aborts when the client has gone away. */
  readonly signal?: AbortSignal | undefined
}

/** What came in, shared by all requests derived from it, so that it is parsed once. */
export class Message implements HttpRequestInit {
  readonly method: string
  readonly target: string
  readonly #init: HttpRequestInit
  #headers: RequestHeaders | undefined
  #query: URLSearchParams | undefined

  constructor(init: HttpRequestInit) {
    if (typeof init?.target !== 'string') {
      throw new TypeError('A request needs a "target", such as "/news/list"')
    }
    this.#init = init
    this.method = init.method ?? 'GET'
    this.target = init.target
  }

  get headers(): RequestHeaders {
    this.#headers ??= lowerCased(this.#init.headers ?? {})
    return this.#headers
  }

  get query(): URLSearchParams {
    this.#query ??= parseSearch(splitTarget(this.target).search)
    return this.#query
  }

  get body(): BodySource {
    return this.#init.body ?? ''
  }

  get signal(): AbortSignal | undefined {
    return this.#init.signal
  }
}

/** The bytes of a form body, parsed when first asked for. */
export class FormBody {
  readonly bytes: Uint8Array
  #fields: URLSearchParams | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get fields(): URLSearchParams {
    this.#fields ??= parseSearch(Buffer.from(this.bytes).toString())
    return this.#fields
  }
}

function lowerCased(headers: RequestHeaders): RequestHeaders {
  const lower: Record<string, string | readonly string[] | undefined> = Object.create(null)
  for (const name of Object.keys(headers)) lower[name.toLowerCase()] = headers[name]
  return lower
}
