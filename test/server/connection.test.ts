import assert from 'node:assert/strict'
import { type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { activeResponse, connectionOf } from '../../lib/server/connection.ts'

describe('connectionOf()', () => {
  it('is one for all exchanges of a socket, and another for each socket', () => {
    const socket = new Socket()
    const connection = connectionOf(socket)
    assert.equal(connectionOf(socket), connection)
    assert.notEqual(connectionOf(new Socket()), connection)
  })

  it('tells once that the socket has closed, to those that still listen, with one listener on it', () => {
    const socket = new Socket()
    const { onClose } = connectionOf(socket)
    const told: string[] = []
    const gone = (): void => void told.push('gone')
    onClose.add(() => told.push('one')).add(gone)
    connectionOf(socket).onClose.add(() => told.push('two'))
    onClose.delete(gone)
    assert.equal(socket.listenerCount('close'), 1)
    socket.emit('close')
    socket.emit('close')
    assert.deepEqual(told, ['one', 'two'])
  })
})

describe('activeResponse()', () => {
  it('is the last answer of a socket as long as it has not left', () => {
    const socket = new Socket()
    assert.equal(activeResponse(socket), undefined)
    const connection = connectionOf(socket)
    assert.equal(activeResponse(socket), undefined)
    const answer = new ServerResponse({ method: 'GET' } as IncomingMessage)
    connection.latest = answer
    assert.equal(activeResponse(socket), answer)
    connection.latest = { writableFinished: true } as ServerResponse
    assert.equal(activeResponse(socket), undefined)
  })
})
