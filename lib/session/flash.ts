import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import type { CookieStore } from './cookie-store.ts'

/** Messages for the next page that the user sees, such as `Saved`. They are in a sealed cookie of their own. */
export interface Flash<Message> {
  /** Returns the messages, and leaves them for a later request. */
  read(request: HttpRequest): Promise<readonly Message[]>
  /** Returns the messages, and removes them from the browser. */
  take(request: HttpRequest, response: HttpResponse): Promise<readonly Message[]>
  /**
   * Adds messages to those that this response has. They replace those that the browser has.
   *
   * @throws {RangeError} If the cookie would have more than 4,096 bytes.
   */
  write(response: HttpResponse, ...messages: readonly Message[]): Promise<void>
}

/** Creates the flash messages of a session. */
export function createFlash<Message>(store: CookieStore<readonly Message[]>): Flash<Message> {
  const written = new WeakMap<HttpResponse, Promise<readonly Message[]>>()
  const read = async (request: HttpRequest): Promise<readonly Message[]> =>
    (await store.read(request)) ?? []
  return {
    read,
    async take(request, response) {
      const messages = await read(request)
      const kept = await written.get(response)
      if (messages.length > 0 && !kept?.length) store.clear(response)
      return messages
    },
    async write(response, ...messages) {
      const earlier = written.get(response) ?? Promise.resolve([])
      const writing = earlier.then(async (before) => {
        const all = [...before, ...messages]
        await store.write(response, all)
        return all
      })
      // A failed write leaves the messages before it. The calls run one after the other: the last one sets the cookie.
      written.set(
        response,
        writing.catch(() => earlier),
      )
      await writing
    },
  }
}
