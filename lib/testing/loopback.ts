import { Duplex, duplexPair } from 'node:stream'

// As much as is on its way, unread: like the buffers of the system under a real connection.
const CAPACITY_BYTES = 65_536

/**
 * Two ends of one connection without a network: what is written into one is read from the other.
 *
 * They keep no process alive, as nothing is waited for but each other.
 */
export function loopback(): [client: LoopbackSocket, server: LoopbackSocket] {
  const [a, b] = duplexPair()
  return [new LoopbackSocket(a), new LoopbackSocket(b)]
}

/**
 * An end of a connection, with what clients and servers ask of a `net.Socket`.
 *
 * Over a side of the pair, and not the side itself: that one, when it is destroyed, tells the other
 * nothing on Node 20 and 22, and destroys it under what it has yet to read on Node 24 and 26.
 */
export class LoopbackSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1'
  readonly remoteFamily = 'IPv4'
  readonly remotePort = 0
  readonly localAddress = '127.0.0.1'
  readonly localPort = 0
  readonly connecting = false
  bytesRead = 0
  bytesWritten = 0
  /** Milliseconds without a byte either way before `timeout` is emitted; 0 for never. */
  timeout = 0
  readonly #side: Duplex
  #timer: NodeJS.Timeout | undefined
  #underWay = 0
  #onRoom: (() => void) | undefined

  constructor(side: Duplex) {
    super()
    this.#side = side
    side.on('data', this.#onData).on('end', () => this.push(null))
    side.pause()
  }

  /** As of a `net.Socket`: `timeout` is emitted, and it is for others to end the connection. */
  setTimeout(timeoutMs: number, listener?: () => void): this {
    this.timeout = timeoutMs
    this.#wind()
    if (listener !== undefined && timeoutMs > 0) this.once('timeout', listener)
    else if (listener !== undefined) this.off('timeout', listener)
    return this
  }

  /** Sends what was written, and then destroys itself. */
  destroySoon(): void {
    this.end(() => this.destroy())
  }

  // Of the network, so here there is nothing to set.

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {
    this.#side.resume()
  }

  // A turn later: else a server would answer, and what its listener throws would be thrown, in the midst
  // of the client's writing.
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.bytesWritten += chunk.length
    this.#wind()
    this.#underWay += chunk.length
    if (this.#underWay < CAPACITY_BYTES) done()
    else this.#onRoom = done
    queueMicrotask(() => this.#side.write(chunk, () => this.#arrived(chunk.length)))
  }

  override _final(done: () => void): void {
    queueMicrotask(() => this.#side.end())
    done()
  }

  // The other end reads what was written before, and then the end. What it still writes is dropped.
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer)
    this.#side.off('data', this.#onData).resume()
    queueMicrotask(() => this.#side.end())
    done(error)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytesRead += chunk.length
    this.#wind()
    if (!this.push(chunk)) this.#side.pause()
  }

  #arrived(bytes: number): void {
    this.#underWay -= bytes
    if (this.#underWay >= CAPACITY_BYTES) return
    const onRoom = this.#onRoom
    this.#onRoom = undefined
    onRoom?.()
  }

  #wind(): void {
    clearTimeout(this.#timer)
    if (this.timeout === 0) return
    this.#timer = setTimeout(() => this.emit('timeout'), this.timeout).unref()
  }
}
