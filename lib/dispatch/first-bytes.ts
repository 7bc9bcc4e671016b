import type { Readable } from 'node:stream'

const TIMEOUT_MS = 200

/**
 * Waits until the stream of a response has bytes to send, until it ends, or until the timeout. If the stream
 * fails before that, the error action can still respond. The timeout is for streams
 * without early bytes, such as server-sent events.
 *
 * @throws The error of the stream.
 */
export function waitForFirstBytes(stream: Readable, timeoutMs: number = TIMEOUT_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer)
      stream.off('readable', onReadable).off('error', onError).off('close', onClose)
      finish()
    }
    const onReadable = (): void => settle(resolve)
    const onError = (error: Error): void => settle(() => reject(error))
    const onClose = (): void =>
      onError(stream.errored ?? new Error('The body was closed before it was sent'))
    const timer = setTimeout(onReadable, timeoutMs)
    stream.on('readable', onReadable).on('error', onError).on('close', onClose)
    if (stream.destroyed) onClose()
    else if (stream.readableLength > 0) onReadable()
  })
}
