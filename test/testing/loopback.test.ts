import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import { loopback } from '../../lib/testing/loopback.ts'

describe('loopback()', () => {
  it('carries bytes both ways, and each end by itself', async () => {
    const [client, server] = loopback()
    client.end('question')
    assert.equal(await text(server), 'question')
    server.end('answer')
    assert.equal(await text(client), 'answer')
    assert.deepEqual([client.bytesWritten, client.bytesRead], [8, 6])
    assert.deepEqual([server.bytesWritten, server.bytesRead], [6, 8])
  })

  it('delivers nothing in the midst of a write', async () => {
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

  it('holds back who writes more than the other end reads', async () => {
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

  it('gives the other end what was written before it is destroyed, and then the end', async () => {
    const [client, server] = loopback()
    server.write('half an ')
    server.write('answer')
    server.destroy()
    assert.equal(await text(client), 'half an answer')
  })

  it('lets the other end close that waits for it to read', async () => {
    const [client, server] = loopback()
    server.on('end', () => server.end()).resume()
    server.write(Buffer.alloc(1_000_000))
    await turns()
    assert.ok(server.writableLength > 0)
    client.destroy()
    await once(server, 'close')
  })

  it('sends what was written when it is destroyed soon', async () => {
    const [client, server] = loopback()
    for (let i = 0; i < 3; i++) server.write('a'.repeat(100_000))
    server.destroySoon()
    assert.equal((await text(client)).length, 300_000)
    assert.equal(server.destroyed, true)
  })
})

describe('LoopbackSocket.setTimeout()', () => {
  it('tells of a time without a byte, and goes by the last one', async (t) => {
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

  it('is called off by 0, and by the end of the connection', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const [client, server] = loopback()
    const fail = (): void => assert.fail('timeout')
    client.setTimeout(10, fail).setTimeout(0, fail)
    assert.equal(client.listenerCount('timeout'), 0)
    server.setTimeout(10, fail).destroy()
    t.mock.timers.tick(20)
  })
})

// Not by an iterator: that one destroys the stream that it has read.
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
