import { PassThrough, type Readable } from 'node:stream'
import type { TestContext } from 'node:test'

/** Creates a stream to write into, and destroys it at the end of the test. */
export function incoming(t: TestContext): PassThrough {
  const stream = new PassThrough()
  t.after(() => stream.on('error', () => {}).destroy())
  return stream
}

/** Reads a stream to its end, as text. */
export async function text(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
