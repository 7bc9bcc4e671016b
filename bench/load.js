import { once } from 'node:events'
import { connect } from 'node:net'

// The generator must cost little beside the servers: it writes the same bytes again and again, and
// counts those that come back, since the answers of a server to one request are of one length.

const TIMEOUT_MS = 30_000

/** Warm connections to one server, one request in flight on each. */
export class Load {
  #connections
  #left = 0
  #busy = 0
  #done

  static async open(port, request, { connections = 16 } = {}) {
    const { bytes } = await probe(port, request)
    const load = new Load()
    const next = () => load.#next()
    const fail = (error) => load.#done?.reject(error)
    load.#connections = Array.from(
      { length: connections },
      () => new Connection({ port, request, expected: bytes, next, fail }),
    )
    await load.#open()
    return load
  }

  /** Sends so many requests, and waits for the last answer; the milliseconds it took. */
  async run(requests) {
    // A server ends what was idle for some seconds, while it was the other one's turn.
    await this.#open()
    this.#done = withResolvers()
    const timer = setTimeout(() => this.#done.reject(new Error('No answer')), TIMEOUT_MS)
    const startedAt = performance.now()
    this.#left = requests
    this.#busy = 0
    for (const connection of this.#connections) {
      if (this.#left === 0) break
      this.#left--
      this.#busy++
      connection.send()
    }
    try {
      await this.#done.promise
      return performance.now() - startedAt
    } finally {
      clearTimeout(timer)
    }
  }

  /** Runs until the time is over; how many requests that were. */
  async runFor(ms, most = Number.POSITIVE_INFINITY) {
    const until = performance.now() + ms
    let requests = 0
    let batch = 1
    while (requests < most && performance.now() < until) {
      const took = await this.run(batch)
      requests += batch
      if (took < 20) batch = Math.min(batch * 2, 1_000)
    }
    return requests
  }

  close() {
    for (const connection of this.#connections) connection.close()
  }

  #open() {
    return Promise.all(this.#connections.map((connection) => connection.open()))
  }

  // Whether there is another one to send.
  #next() {
    if (this.#left > 0) {
      this.#left--
      return true
    }
    this.#busy--
    if (this.#busy === 0) this.#done.resolve()
    return false
  }
}

class Connection {
  #options
  #expected
  #socket
  #received = 0
  #busy = false

  constructor(options) {
    this.#options = options
    this.#expected = options.expected
  }

  /** Does nothing where it is open. */
  async open() {
    if (this.#socket !== undefined) return
    const { port, fail } = this.#options
    const onread = {
      buffer: Buffer.allocUnsafe(65_536),
      callback: (bytes) => this.#onBytes(bytes),
    }
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
    this.#socket = socket
    await once(socket, 'connect')
    socket.on('error', fail)
    // At once, not when it is closed: what was sent meanwhile would never be answered.
    socket.on('end', () => this.#onEnd())
  }

  send() {
    this.#busy = true
    this.#socket.write(this.#options.request)
  }

  close() {
    this.#socket?.destroy()
  }

  #onBytes(bytes) {
    this.#received += bytes
    if (this.#received < this.#expected) return true
    if (this.#received > this.#expected) {
      this.#options.fail(new Error('More bytes than the answer has'))
      return false
    }
    this.#received = 0
    this.#busy = false
    if (this.#options.next()) this.send()
    return true
  }

  #onEnd() {
    this.#socket.destroy()
    this.#socket = undefined
    if (this.#busy) this.#options.fail(new Error('The connection was ended before the answer'))
  }
}

/** Asks once, and reads the answer in truth: its status, headers and body, and all its bytes. */
export async function probe(port, request) {
  const socket = connect({ port, host: '127.0.0.1', timeout: TIMEOUT_MS })
  socket.on('timeout', () => socket.destroy(new Error('No answer')))
  socket.write(request)
  let received = Buffer.alloc(0)
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk])
    const answer = parse(received)
    if (answer !== undefined) return answer
  }
  throw new Error('The connection was closed before the answer was whole')
}

function parse(received) {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [statusLine, ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const headers = new Map(lines.map(field))
  const rest = received.subarray(end + 4)
  const body = headers.has('content-length')
    ? plainBody(rest, Number(headers.get('content-length')))
    : chunkedBody(rest)
  const status = Number(statusLine.split(' ')[1])
  return body && { status, headers, body: body.toString(), bytes: received.length }
}

function field(line) {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

function plainBody(bytes, length) {
  return bytes.length >= length ? bytes.subarray(0, length) : undefined
}

function chunkedBody(bytes) {
  const chunks = []
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const next = line + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(line + 2, line + 2 + size))
    at = next
  }
}

// Promise.withResolvers() is of Node 22.
function withResolvers() {
  const resolvers = {}
  resolvers.promise = new Promise((resolve, reject) =>
    Object.assign(resolvers, { resolve, reject }),
  )
  return resolvers
}
