import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import { loopback } from '../../lib/testing/loopback.ts'

describe('loopback()', () => {
  it('carries bytes in both directions, and ends each direction separately', async () => {
    const [client, server] = loopback()
    client.end('request')
    assert.equal(await text(server), 'request')
    server.end('response')
    assert.equal(await text(client), 'response')
    assert.deepEqual([client.bytesWritten, client.bytesRead], [7, 8])
    assert.deepEqual([server.bytesWritten, server.bytesRead], [8, 7])
  })

  it('delivers nothing during write()', async () => {
    const [client, server] = loopback()
    let isWriting = true
    const delivered = new Promise<boolean>((resolve) => {
      server.on('data', () => resolve(isWriting))
    })
    await turns()
    client.write('bytes')
    isWriting = false
    assert.equal(await delivered, false)
  })

  it('applies backpressure to an end that writes more than the other reads', async () => {
    const [client, server] = loopback()
    let written = 0
    const chunk = Buffer.alloc(65_536)
    while (written < 100 && client.write(chunk)) written++
    assert.ok(written < 100, 'it says that it is full')
    let isDrained = false
    client.once('drain', () => {
      isDrained = true
    })
    await turns()
    assert.equal(isDrained, false)
    server.resume()
    await turns()
    assert.equal(isDrained, true)
  })

  it('delivers what was written before destroy(), and then the end of the stream', async () => {
    const [client, server] = loopback()
    server.write('half a ')
    server.write('response')
    server.destroy()
    assert.equal(await text(client), 'half a response')
  })

  it('lets the other end close while it waits for a reader', async () => {
    const [client, server] = loopback()
    server.on('end', () => server.end()).resume()
    server.write(Buffer.alloc(1_000_000))
    await turns()
    assert.ok(server.writableLength > 0)
    client.destroy()
    await once(server, 'close')
  })

  it('sends what was written before destroySoon()', async () => {
    const [client, server] = loopback()
    for (let i = 0; i < 3; i++) server.write('a'.repeat(100_000))
    server.destroySoon()
    assert.equal((await text(client)).length, 300_000)
    assert.equal(server.destroyed, true)
  })
})

describe('LoopbackSocket.setTimeout()', () => {
  it('emits `timeout` after a time without a byte, counted from the last byte', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const [client, server] = loopback()
    let timeouts = 0
    assert.equal(
      server.resume().setTimeout(100, () => timeouts++),
      server,
    )
    assert.equal(server.timeout, 100)
    t.mock.timers.tick(60)
    client.write('a')
    await turns()
    t.mock.timers.tick(60)
    assert.equal(timeouts, 0)
    server.write('b')
    t.mock.timers.tick(60)
    assert.equal(timeouts, 0)
    t.mock.timers.tick(40)
    assert.equal(timeouts, 1)
    assert.equal(server.destroyed, false)
  })

  it('is cancelled by 0, and by the end of the connection', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const [client, server] = loopback()
    const fail = (): void => assert.fail('timeout')
    client.setTimeout(10, fail).setTimeout(0, fail)
    assert.equal(client.listenerCount('timeout'), 0)
    server.setTimeout(10, fail).destroy()
    t.mock.timers.tick(20)
  })
})

// Reads without an iterator, which would destroy the stream at its end.
async function text(stream: Duplex): Promise<string> {
  let read = ''
  stream.setEncoding('utf8').on('data', (chunk) => {
    read += chunk
  })
  await once(stream, 'end')
  return read
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
}
