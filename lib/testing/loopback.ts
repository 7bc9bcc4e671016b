import { Duplex, duplexPair } from 'node:stream'

// Maximum bytes in flight before a writer has to wait. It stands for the system's buffers of a real connection.
const CAPACITY_BYTES = 65_536

/**
 * Creates the two ends of a connection without a network. Each end reads the bytes that the other end writes.
 *
 * The ends do not keep the process alive.
 */
export function loopback(): [client: LoopbackSocket, server: LoopbackSocket] {
  const [a, b] = duplexPair()
  return [new LoopbackSocket(a), new LoopbackSocket(b)]
}

/**
 * One end of a connection, with the members of `net.Socket` that clients and servers use.
 *
 * It wraps a side of `duplexPair()` instead of being one. When a bare side is destroyed, Node 20 and 22 do
 * not notify the other side, and Node 24 and 26 destroy it before it has read everything.
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
  /** Milliseconds without a byte in either direction before `timeout` is emitted; 0 for never. */
  timeout = 0
  readonly #side: Duplex
  #timer: NodeJS.Timeout | undefined
  #inFlightBytes = 0
  #onDrain: (() => void) | undefined

  constructor(side: Duplex) {
    super()
    this.#side = side
    side.on('data', this.#onData).on('end', () => this.push(null))
    side.pause()
  }

  /** Emits `timeout` after that time without a byte, as `net.Socket` does; the listener ends the connection. */
  setTimeout(timeoutMs: number, listener?: () => void): this {
    this.timeout = timeoutMs
    this.#restartTimer()
    if (listener !== undefined && timeoutMs > 0) this.once('timeout', listener)
    else if (listener !== undefined) this.off('timeout', listener)
    return this
  }

  /** Sends everything that was written, and then destroys this end. */
  destroySoon(): void {
    this.end(() => this.destroy())
  }

  // The four methods below set options of a network socket. They have no effect here.
  readonly setNoDelay = (): this => this
  readonly setKeepAlive = (): this => this
  readonly ref = (): this => this
  readonly unref = (): this => this

  override _read(): void {
    this.#side.resume()
  }

  // Writes one microtask later: otherwise, the server would respond inside the write() of the client, and would throw the error of a
  // listener there.
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.bytesWritten += chunk.length
    this.#restartTimer()
    this.#inFlightBytes += chunk.length
    if (this.#inFlightBytes < CAPACITY_BYTES) done()
    else this.#onDrain = done
    queueMicrotask(() => this.#side.write(chunk, () => this.#arrived(chunk.length)))
  }

  override _final(done: () => void): void {
    queueMicrotask(() => this.#side.end())
    done()
  }

  // The other end reads what was written before, and then the end of the stream. Its later writes are dropped.
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer)
    this.#side.off('data', this.#onData).resume()
    queueMicrotask(() => this.#side.end())
    done(error)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytesRead += chunk.length
    this.#restartTimer()
    if (!this.push(chunk)) this.#side.pause()
  }

  #arrived(bytes: number): void {
    this.#inFlightBytes -= bytes
    if (this.#inFlightBytes >= CAPACITY_BYTES) return
    const onDrain = this.#onDrain
    this.#onDrain = undefined
    onDrain?.()
  }

  #restartTimer(): void {
    clearTimeout(this.#timer)
    if (this.timeout === 0) return
    this.#timer = setTimeout(() => this.emit('timeout'), this.timeout).unref()
  }
}
