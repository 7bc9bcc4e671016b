import type { Readable } from 'node:stream'
import { checkChunk } from '../http/body.ts'

const TIMEOUT_MS = 200

/**
 * Waits until the stream of a response has bytes to send, until it ends, or until the timeout. If the stream
 * fails before that, the error action can still respond. The timeout is for streams
 * without early bytes, such as server-sent events.
 *
 * @throws The error of the stream; a `TypeError` if its first chunk is neither a string nor bytes.
 */
export function waitForFirstBytes(stream: Readable, timeoutMs: number = TIMEOUT_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer)
      for (const [event, listener] of listeners) stream.off(event, listener)
      finish()
    }
    const onReadable = (): void =>
      settle(() => resolve(stream.readableObjectMode ? checkFirstChunk(stream) : undefined))
    const onError = (error: Error): void => settle(() => reject(error))
    const onEnd = (): void => settle(resolve)
    const onClose = (): void =>
      onError(stream.errored ?? new Error('The body was closed before it was sent'))
    const timer = setTimeout(onReadable, timeoutMs)
    // A stream without a byte may end without `readable`.
    const listeners = [
      ['readable', onReadable],
      ['end', onEnd],
      ['error', onError],
      ['close', onClose],
    ] as const
    for (const [event, listener] of listeners) stream.on(event, listener)
    if (stream.readableEnded) onEnd()
    else if (stream.destroyed) onClose()
    else if (stream.readableLength > 0) onReadable()
  })
}

/** The state of a stream: `buffer` is a linked list in Node 20, and an array in later versions. */
interface BufferedStream {
  readonly _readableState?: {
    readonly buffer?: ArrayLike<unknown> & { first?(): unknown }
    readonly bufferIndex?: number
  }
}

// Checks the first chunk of a stream in object mode. Does not use read() and unshift(): read() also
// starts the read of the second chunk, and if that fails, the first one is lost.
async function checkFirstChunk(stream: Readable & BufferedStream): Promise<void> {
  const { buffer, bufferIndex = 0 } = stream._readableState ?? {}
  if (stream.readableLength > 0) checkChunk(buffer?.first?.() ?? buffer?.[bufferIndex] ?? '')
}
