import { decodeSegment, eachField, eachPair, isReserved } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { splitTarget } from '../http/request-line.ts'
import { isName } from './shape.ts'

/** The property of an action that has the names of all its parameters. Any other name may contain a secret. */
export const knownParams: unique symbol = Symbol('portico.knownParams')

/** A decoded value, or the beginning of a long one. */
export interface SentValue {
  readonly text: string
  /** The length of the whole value: of a long one, as it was sent. */
  readonly length: number
}

// A report needs names and shapes, so the end of a longer part is not decoded.
const MAX_DECODED = 16_384
const BEGINNING = 1_024
// A name that a report shows has at most 64 characters. If each is escaped, 192 are sent.
const MAX_NAME = 256

/**
 * The parameters of a request without the reserved names, in the order and with the precedence of
 * `request.params`. Decodes a value when it is read, and only the beginning of a long one. Does not decode a long name. A form
 * of 1 MB takes 1 to 4 ms.
 */
export class SentParams {
  readonly #values = new Map<string, string | SentValue>()

  constructor(request: HttpRequest) {
    const { message, form = message.form, route, target } = stateOf(request)
    const pairs = route?.pairs ?? ''
    const add = (name: string, value: string): void =>
      this.#set(name.length > MAX_NAME ? name : decodeSegment(name), value)
    eachField(form?.text ?? '', add)
    eachField(splitTarget(target).search, add)
    if (typeof pairs === 'string') eachPair(pairs, add)
    else for (const [name, text] of pairs) this.#set(name, { text, length: text.length })
  }

  get names(): Iterable<string> {
    return this.#values.keys()
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  get(name: string): SentValue | undefined {
    const value = this.#values.get(name)
    return typeof value === 'string' ? decodeSent(value) : value
  }

  #set(name: string, value: string | SentValue): void {
    if (!isReserved(name)) this.#values.set(name, value)
  }
}

const paramsOfRequests = new WeakMap<HttpRequest, SentParams>()

/** Returns the parameters of a request. Its reports and counts share them. */
export function sentParamsOf(request: HttpRequest): SentParams {
  const params = paramsOfRequests.get(request) ?? new SentParams(request)
  paramsOfRequests.set(request, params)
  return params
}

function decodeSent(sent: string): SentValue {
  const isLong = sent.length > MAX_DECODED
  const text = decodeSegment(isLong ? sent.slice(0, BEGINNING) : sent)
  return { text, length: isLong ? sent.length : text.length }
}

/** Returns the rule that decides whether a report about a request may show the name of a parameter. */
export function paramNameRule(request: HttpRequest): (name: string) => boolean {
  const { settings, route, firstRoute } = stateOf(request)
  for (const each of new Set([route, firstRoute])) {
    const action = each && settings.resolve?.(each).run
    const known = (action as { [knownParams]?: ReadonlySet<string> } | undefined)?.[knownParams]
    if (known !== undefined) return (name) => known.has(name)
  }
  return isName
}
