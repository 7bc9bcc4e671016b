// The load generator. It must need little CPU compared with the servers. So it writes the same bytes again and again, and
// only counts the bytes that it receives: all responses of a server to one request have the same length.

import { once } from 'node:events'
import { connect } from 'node:net'

const TIMEOUT_MS = 30_000

/** Keep-alive connections to one server, with one request in flight on each. */
export class Load {
  #connections
  // The number of requests that are not sent yet, and of connections with a request in flight.
  #unsent = 0
  #busy = 0
  // The requests of an open-loop run; undefined in a closed-loop run.
  #schedule
  // The promise of the current run.
  #done

  /** Reads the length of the response to a request, and opens the connections. */
  static async open(port, request, { connections = 16 } = {}) {
    const { bytes } = await probe(port, request)
    const load = new Load()
    const next = (connection) => load.#next(connection)
    const fail = (error) => load.#done?.reject(error)
    load.#connections = Array.from(
      { length: connections },
      () => new Connection({ port, request, expected: bytes, next, fail }),
    )
    await load.#open()
    return load
  }

  /** Sends a number of requests, waits for the last response, and returns the time in milliseconds. */
  async run(requests) {
    // A server may have closed connections that were idle while the other server had load.
    await this.#open()
    this.#done = withResolvers()
    const timer = setTimeout(() => this.#done.reject(new Error('No response')), TIMEOUT_MS)
    const startedAt = performance.now()
    this.#unsent = requests
    this.#busy = 0
    for (const connection of this.#connections) {
      if (this.#unsent === 0) break
      this.#unsent--
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

  /** Sends requests until the time is over or the maximum is reached, and returns their number. */
  async runFor(ms, maxRequests = Number.POSITIVE_INFINITY) {
    const deadline = performance.now() + ms
    let requests = 0
    let batch = 1
    while (requests < maxRequests && performance.now() < deadline) {
      const batchMs = await this.run(batch)
      requests += batch
      if (batchMs < 20) batch = Math.min(batch * 2, 1_000)
    }
    return requests
  }

  /**
   * Sends requests at fixed times, as far as a connection is free, and returns the milliseconds from the time at which each
   * request was due to its response.
   */
  async runAtRate(requestsPerSecond, ms) {
    await this.#open()
    this.#done = withResolvers()
    const timer = setTimeout(() => this.#done.reject(new Error('No response')), TIMEOUT_MS + ms)
    const schedule = new Schedule(requestsPerSecond, ms, this.#connections)
    this.#schedule = schedule
    // A loop and not a timer: a timer fires once a millisecond at most, and then sends many requests at once.
    const pump = () => {
      schedule.sendDue()
      if (!schedule.isSent) setImmediate(pump)
    }
    pump()
    try {
      await this.#done.promise
      return schedule.latencies
    } finally {
      this.#schedule = undefined
      clearTimeout(timer)
    }
  }

  close() {
    for (const connection of this.#connections) connection.close()
  }

  #open() {
    return Promise.all(this.#connections.map((connection) => connection.open()))
  }

  // Called after each response. Returns whether its connection must send another request.
  #next(connection) {
    if (this.#schedule !== undefined) {
      const mustSend = this.#schedule.onResponse(connection)
      if (this.#schedule.isDone) this.#done.resolve()
      return mustSend
    }
    if (this.#unsent > 0) {
      this.#unsent--
      return true
    }
    this.#busy--
    if (this.#busy === 0) this.#done.resolve()
    return false
  }
}

/** The times at which the requests of an open-loop run are due, and their latencies. */
class Schedule {
  latencies = []
  #startedAt = performance.now()
  #intervalMs
  #total
  #sent = 0
  #free

  constructor(requestsPerSecond, ms, connections) {
    this.#intervalMs = 1_000 / requestsPerSecond
    this.#total = Math.round((requestsPerSecond * ms) / 1_000)
    this.#free = [...connections]
  }

  get isSent() {
    return this.#sent === this.#total
  }

  get isDone() {
    return this.latencies.length === this.#total
  }

  sendDue() {
    const now = performance.now()
    while (this.#free.length > 0 && this.#isDue(now)) {
      const connection = this.#free.pop()
      this.#take(connection)
      connection.send()
    }
  }

  /** Records a latency. Returns whether another request is due, which the connection must send. */
  onResponse(connection) {
    const now = performance.now()
    this.latencies.push(now - connection.dueAt)
    const isDue = this.#isDue(now)
    if (isDue) this.#take(connection)
    else this.#free.push(connection)
    return isDue
  }

  #isDue(now) {
    return this.#sent < this.#total && this.#nextAt <= now
  }

  get #nextAt() {
    return this.#startedAt + this.#sent * this.#intervalMs
  }

  #take(connection) {
    connection.dueAt = this.#nextAt
    this.#sent++
  }
}

class Connection {
  /** The time at which the request in flight was due, in an open-loop run. */
  dueAt = 0
  #options
  #expected
  #socket
  #received = 0
  #busy = false

  constructor(options) {
    this.#options = options
    this.#expected = options.expected
  }

  /** Opens the connection, unless it is open. */
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
    // On `end` and not on `close`: a request that is sent between the two would never get a response.
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
      this.#options.fail(new Error('The response is longer than the first one'))
      return false
    }
    this.#received = 0
    this.#busy = false
    if (this.#options.next(this)) this.send()
    return true
  }

  #onEnd() {
    this.#socket.destroy()
    this.#socket = undefined
    if (this.#busy)
      this.#options.fail(new Error('The server closed the connection before the response'))
  }
}

/** Sends one request, and parses the response: its status, headers and body, and its length in bytes. */
export async function probe(port, request) {
  const socket = connect({ port, host: '127.0.0.1', timeout: TIMEOUT_MS })
  socket.on('timeout', () => socket.destroy(new Error('No response')))
  socket.write(request)
  let received = Buffer.alloc(0)
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk])
    const response = parse(received)
    if (response !== undefined) return response
  }
  throw new Error('The server closed the connection before the end of the response')
}

// Returns undefined until the response is complete.
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
  for (let start = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', start)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', start, lineEnd), 16)
    const dataStart = lineEnd + 2
    const next = dataStart + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(dataStart, dataStart + size))
    start = next
  }
}

// Promise.withResolvers() needs Node 22.
function withResolvers() {
  const resolvers = {}
  resolvers.promise = new Promise((resolve, reject) =>
    Object.assign(resolvers, { resolve, reject }),
  )
  return resolvers
}
