import type { BlockList } from 'node:net'
import type { Client } from '../http/forwarded.ts'
import type { Message } from '../http/message.ts'
import { clientOfMessage } from '../http/request-state.ts'
import type { Route } from '../http/route.ts'
import { labelsOf } from './host-pattern.ts'
import type { RouteFacts } from './route-part.ts'

/** The settings that all routes of a front controller share. */
export interface SharedFacts {
  readonly trusted: BlockList
  isModule(name: string): boolean
  hasAction(route: Route): boolean
}

/** The facts of a request. They are read when a route needs them. */
export class RequestFacts implements RouteFacts {
  /** Whether a route has read more than the path. */
  isRead = false
  #labels: readonly string[] | undefined
  readonly #message: Message
  readonly #shared: SharedFacts

  constructor(message: Message, shared: SharedFacts) {
    this.#message = message
    this.#shared = shared
  }

  get method(): string {
    this.isRead = true
    return this.#message.method
  }

  get protocol(): 'http' | 'https' {
    return this.client.protocol
  }

  get labels(): readonly string[] | undefined {
    this.#labels ??= labelsOf(this.client.host)
    return this.#labels
  }

  get client(): Client {
    this.isRead = true
    return clientOfMessage(this.#message, this.#shared.trusted)
  }

  isModule(name: string): boolean {
    return this.#shared.isModule(name)
  }

  hasAction(route: Route): boolean {
    return this.#shared.hasAction(route)
  }

  /** Returns the facts of a GET request for another origin. */
  getFrom(protocol: string, host: string | undefined): RouteFacts {
    return {
      ...this.#shared,
      method: 'GET',
      protocol,
      labels: host === undefined ? host : labelsOf(host),
    }
  }
}
