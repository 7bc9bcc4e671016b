import assert from 'node:assert/strict'
import cluster, { type Worker } from 'node:cluster'
import { on, once } from 'node:events'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { Supervisor } from '../../lib/commands/supervisor.ts'
import { WorkerError } from '../../lib/commands/worker-slot.ts'
import { STOP_MESSAGE } from '../../lib/process/child.ts'
import { REPLACE_MESSAGE } from '../../lib/process/worker.ts'
import { deferred } from '../support/deferred.ts'
import { createFolder, writeFileIn } from '../support/folder.ts'

// A worker behaves as the file beside it says; a test can change the file for the next worker.
const WORKER = `
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
const { exitCode, stopCode, deaf, asks } = JSON.parse(readFileSync(new URL('behaviour.json', import.meta.url), 'utf8'))
if (exitCode !== undefined) process.exit(exitCode)
process.on('message', (message) => {
  if (message === '${STOP_MESSAGE}' && !deaf) process.exit(stopCode)
})
process.on('disconnect', () => process.exit())
createServer((socket) => socket.end()).listen(0, '127.0.0.1', function () {
  // This message arrives before the one of node:cluster.
  process.send({ 'portico:url': 'http://127.0.0.1:' + this.address().port })
  if (asks) setImmediate(() => process.send('${REPLACE_MESSAGE}'))
})
`

interface Behaviour {
  /** The worker ends with this code before it listens. */
  readonly exitCode?: number
  /** The exit code of the worker after the stop message. */
  readonly stopCode?: number
  /** Whether the worker ignores the stop message. */
  readonly deaf?: boolean
  /** Whether the worker asks for a successor as soon as it listens. */
  readonly asks?: boolean
}

describe('Supervisor', () => {
  it('is ready while all workers listen on one address, until it stops', async (t) => {
    const { supervisor } = supervised(t)
    assert.equal(supervisor.isReady, false)
    assert.match((await supervisor.start()) ?? '', /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.deepEqual([workers().length, supervisor.isReady], [2, true])
    const stopped = supervisor.stop()
    assert.equal(supervisor.isReady, false)
    assert.equal(await stopped, 0)
    assert.deepEqual(pids(), [])
  })

  it('rejects start() with the exit code of a worker that ends before it listens', async (t) => {
    const { supervisor } = supervised(t, { exitCode: 7 })
    await assert.rejects(supervisor.start(), (error: unknown) => {
      assert.ok(error instanceof WorkerError)
      assert.equal(error.exitCode, 7)
      return true
    })
    assert.equal(supervisor.isReady, false)
  })

  it('goes on when node:cluster fails to reply to a worker that dies, at any time', async (t) => {
    const { supervisor, lines } = supervised(t)
    // child_process emits this error if a write without a callback fails.
    const fail = (): void => {
      for (const { process } of workers()) process.emit('error', new Error('write EPIPE'))
    }
    const started = supervisor.start()
    fail()
    await started
    fail()
    const reload = supervisor.reload()
    for (let forks = 0; forks < 2; forks++) {
      await once(cluster, 'fork')
      fail()
    }
    await reload
    assert.deepEqual(lines, ['All workers were replaced'])
    const stopped = supervisor.stop()
    fail()
    assert.equal(await stopped, 0)
  })

  it('returns the highest exit code of the workers that it stops', async (t) => {
    const { supervisor, behave } = supervised(t, { stopCode: 1 })
    await supervisor.start()
    behave({})
    await supervisor.reload()
    assert.equal(await supervisor.stop(), 0)

    const other = new Supervisor({ ...options(), workers: 1 })
    behave({ stopCode: 3 })
    await other.start()
    assert.equal(await other.stop(), 3)
  })

  it('kills a worker that does not stop in time, and logs it', async (t) => {
    const { supervisor, lines } = supervised(t, { deaf: true }, { stopTimeoutMs: 20 })
    await supervisor.start()
    const expected = pids().map((pid) => `Worker ${pid} ended (SIGKILL) while it stopped`)
    const ended = workers().map((worker) => once(worker, 'exit'))
    assert.equal(await supervisor.stop(), 1)
    for (const [, signal] of await Promise.all(ended)) assert.equal(signal, 'SIGKILL')
    assert.deepEqual(lines.toSorted(), expected.toSorted())
  })

  it('kills a worker that a reload replaces and that does not stop in time, and logs it once, also if a stop follows', async (t) => {
    const { supervisor, behave, lines } = supervised(t, { deaf: true }, { stopTimeoutMs: 500 })
    await supervisor.start()
    const [first] = pids()
    behave({})
    const listening = once(cluster, 'listening')
    const reloaded = supervisor.reload()
    await listening
    // The successor listens, and the worker that it replaces is stopping.
    while (workers().length < 3) await new Promise(setImmediate)
    await supervisor.stop()
    await reloaded
    const own = lines.filter((line) => line.startsWith(`Worker ${first} `))
    assert.deepEqual(own, [`Worker ${first} ended (SIGKILL) while it stopped`])
  })

  it('logs no worker that stops in time', async (t) => {
    const { supervisor, lines } = supervised(t)
    await supervisor.start()
    workers()[0]?.process.kill('SIGTERM')
    await supervisor.stop()
    assert.deepEqual(lines, [])
  })

  it('replaces a worker that ends, and logs it', async (t) => {
    const { supervisor, lines, logged } = supervised(t)
    await supervisor.start()
    const [victim, survivor] = workers()
    const forked = once(cluster, 'fork')
    victim?.process.kill('SIGKILL')
    await logged('worker')
    assert.equal(supervisor.isReady, true)
    const pid = victim?.process.pid
    assert.deepEqual(lines, [`Worker ${pid} ended (SIGKILL); a new worker starts in 100 ms`])
    const [successor] = (await forked) as [Worker]
    await once(successor, 'listening')
    assert.deepEqual(pids(), [survivor?.process.pid, successor.process.pid])
  })

  it('doubles the delay while successors fail, for this worker only, and keeps trying', async (t) => {
    const { supervisor, behave, lines, logged } = supervised(t)
    await supervisor.start()
    const [victim, other] = workers()
    behave({ exitCode: 5 })
    victim?.process.kill('SIGKILL')
    await logged('worker')
    await logged('worker')
    await logged('worker')
    assert.deepEqual(delaysOf(lines), ['100', '200', '400'])
    other?.process.kill('SIGKILL')
    await logged('worker')
    assert.equal(delaysOf(lines).at(-1), '100')
    behave({})
    let listening = 0
    for await (const _ of on(cluster, 'listening')) if (++listening === 2) break
    assert.equal(workers().length, 2)
  })

  // Node emits the first code, and throws the second one, as it does ENOMEM.
  for (const [cwd, code] of [
    ['missing', 'ENOENT'],
    ['worker.mjs', 'ENOTDIR'],
  ] as const) {
    const problem = `A worker ended with ${code} before it listened`
    it(`keeps trying while the system creates no process (${code})`, async (t) => {
      const { supervisor, lines, logged, place } = supervised(t)
      await supervisor.start()
      const [victim] = workers()
      place(cwd)
      victim?.process.kill('SIGKILL')
      await logged('worker')
      await logged('worker')
      await supervisor.reload()
      assert.equal(lines[1], `${problem}; a new worker starts in 200 ms`)
      assert.ok(lines.includes(`Reload aborted: ${problem}`))
      place('.')
      await supervisor.reload()
      assert.equal(lines.at(-1), 'All workers were replaced')
      assert.equal(workers().length, 2)
    })

    it(`rejects start() if the system creates no process (${code})`, async (t) => {
      const { supervisor, place } = supervised(t)
      place(cwd)
      await assert.rejects(supervisor.start(), (error) => {
        return error instanceof WorkerError && error.exitCode < 0 && error.message === problem
      })
    })
  }

  it('rejects start() if the program may not create a process', async (t) => {
    const { supervisor } = supervised(t)
    const code = 'ERR_ACCESS_DENIED'
    t.mock.method(cluster, 'fork', () => {
      throw Object.assign(new Error('Access to this API has been restricted'), { code })
    })
    await assert.rejects(supervisor.start(), (error) => {
      const message = `A worker ended with ${code} before it listened`
      return error instanceof WorkerError && error.exitCode < 0 && error.message === message
    })
  })

  it('waits at most 1 second after a worker that listened', async (t) => {
    const { supervisor, lines, logged } = supervised(t)
    await supervisor.start()
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const survivor = workers()[1]
    for (let crash = 0; crash < 6; crash++) {
      workers()
        .find((worker) => worker !== survivor)
        ?.process.kill('SIGKILL')
      await logged('worker')
      const forked = once(cluster, 'fork')
      t.mock.timers.tick(1_000)
      const [successor] = (await forked) as [Worker]
      await once(successor, 'listening')
    }
    assert.deepEqual(delaysOf(lines), ['100', '200', '400', '800', '1000', '1000'])
  })

  it('starts the successor when a worker asks for it, and stops the worker when it listens', async (t) => {
    const { supervisor, behave, lines, logged } = supervised(t, { asks: true }, { workers: 1 })
    const asked = logged('worker')
    await supervisor.start()
    const [first] = workers()
    assert.ok(first)
    const ended = once(first, 'exit')
    await asked
    behave({})
    const [code] = await ended
    assert.deepEqual([code, supervisor.isReady], [0, true])
    assert.match(lines[0] ?? '', /^Worker \d+ had an exception; a new worker starts in 100 ms$/)
  })

  it('starts the missing workers at once on a reload', async (t) => {
    const { supervisor, behave, lines, logged } = supervised(t)
    await supervisor.start()
    behave({ exitCode: 5 })
    t.mock.timers.enable({ apis: ['setTimeout'] })
    workers()[0]?.process.kill('SIGKILL')
    await logged('worker')
    t.mock.timers.tick(100)
    await logged('worker')
    let forks = 0
    const count = (): void => void forks++
    cluster.on('fork', count)
    t.after(() => void cluster.off('fork', count))
    behave({})
    await supervisor.reload()
    t.mock.timers.tick(60_000)
    assert.deepEqual([forks, workers().length], [2, 2])
    assert.equal(lines.at(-1), 'All workers were replaced')
  })

  it('starts no successor if it stops in the meantime', async (t) => {
    const { supervisor, logged } = supervised(t)
    await supervisor.start()
    let forks = 0
    const count = (): void => void forks++
    cluster.on('fork', count)
    t.after(() => void cluster.off('fork', count))
    t.mock.timers.enable({ apis: ['setTimeout'] })
    workers()[0]?.process.kill('SIGKILL')
    await logged('worker')
    assert.equal(await supervisor.stop(), 0)
    t.mock.timers.tick(60_000)
    assert.equal(forks, 0)
  })

  it('replaces all workers one by one, each when its successor listens', async (t) => {
    const { supervisor, lines } = supervised(t)
    await supervisor.start()
    const old = workers()
    const events: string[] = []
    const watch = (name: string) => (worker: Worker) =>
      void events.push(`${old.includes(worker) ? 'old' : 'new'} ${name}`)
    const [listening, exit] = [watch('listening'), watch('exit')]
    cluster.on('message', listening).on('exit', exit)
    t.after(() => void cluster.off('message', listening).off('exit', exit))
    await supervisor.reload()
    assert.deepEqual(events, ['new listening', 'old exit', 'new listening', 'old exit'])
    assert.deepEqual(lines, ['All workers were replaced'])
    assert.equal(workers().length, 2)
    assert.ok(workers().every((worker) => !old.includes(worker)))
  })

  it('reloads once more after a reload during which more were requested', async (t) => {
    const { supervisor, lines } = supervised(t)
    await supervisor.start()
    let forks = 0
    const count = (): void => void forks++
    cluster.on('fork', count)
    t.after(() => void cluster.off('fork', count))
    await Promise.all([1, 2, 3].map(() => supervisor.reload()))
    assert.deepEqual([forks, lines.length, workers().length], [4, 2, 2])
    await supervisor.reload()
    assert.deepEqual([forks, lines.length], [6, 3])
  })

  it('keeps the old workers when the new version does not start', async (t) => {
    const { supervisor, behave, lines } = supervised(t)
    await supervisor.start()
    const old = pids()
    behave({ exitCode: 2 })
    await supervisor.reload()
    const why = 'Reload aborted: A worker ended with exit code 2 before it listened'
    assert.deepEqual(lines, [why])
    assert.deepEqual([pids(), supervisor.isReady], [old, true])
    behave({})
    await supervisor.reload()
    assert.deepEqual(lines, [why, 'All workers were replaced'])
  })

  it('does not reload after it stops', async (t) => {
    const { supervisor, lines } = supervised(t)
    await supervisor.start()
    const stopped = supervisor.stop()
    await supervisor.reload()
    await stopped
    assert.deepEqual([lines, pids()], [[], []])
  })

  it('kills all workers at once', async (t) => {
    const { supervisor } = supervised(t, { deaf: true })
    await supervisor.start()
    const ended = workers().map((worker) => once(worker, 'exit'))
    supervisor.stop()
    supervisor.kill()
    for (const [, signal] of await Promise.all(ended)) assert.equal(signal, 'SIGKILL')
  })
})

function workers(): Worker[] {
  // A worker that ended stays in the list until its channel closes.
  return Object.values(cluster.workers ?? {})
    .filter((worker) => worker !== undefined)
    .filter((worker) => !worker.isDead())
}

function delaysOf(lines: readonly string[]): (string | undefined)[] {
  return lines.map((line) => / in (.*) ms/.exec(line)?.[1])
}

function pids(): (number | undefined)[] {
  return workers().map((worker) => worker.process.pid)
}

interface Supervised {
  readonly supervisor: Supervisor
  /** Sets the behaviour of the workers that start from now on. */
  readonly behave: (behaviour: Behaviour) => void
  /** Sets the folder of the workers that start from now on. */
  readonly place: (name: string) => void
  readonly lines: string[]
  /** Waits for the next line with an event. */
  readonly logged: (event: string) => Promise<void>
}

function options(lines: string[] = [], onEvent = (_: string): void => {}) {
  const write = (fields: object, message: string): void => {
    lines.push(message)
    onEvent((fields as { event: string }).event)
  }
  const logger = { info: write, warn: write, error: write }
  return { workers: 2, port: 3000, host: '127.0.0.1', logger, stopTimeoutMs: 30_000 }
}

function supervised(
  t: TestContext,
  behaviour: Behaviour = {},
  changes: { readonly workers?: number; readonly stopTimeoutMs?: number } = {},
): Supervised {
  const lines: string[] = []
  let waiting: { event: string; resolve: () => void } | undefined
  const onEvent = (event: string): void => {
    if (waiting?.event === event) waiting.resolve()
  }
  const supervisor = new Supervisor({ ...options(lines, onEvent), ...changes })
  t.after(async () => {
    // node:cluster lists a worker that has ended until its channel is closed too.
    const living = workers().filter((worker) => !worker.isDead())
    const left = living.map((worker) => once(worker, 'exit'))
    const stopped = supervisor.stop()
    supervisor.kill()
    await Promise.all([stopped, ...left])
  })
  // The test removes the folder after the workers have ended: it cleans up in the order of creation.
  const folder = createFolder(t, { 'worker.mjs': WORKER })
  const behave = (now: Behaviour): void =>
    writeFileIn(folder, 'behaviour.json', JSON.stringify(now))
  behave(behaviour)
  const exec = join(folder, 'worker.mjs')
  cluster.setupPrimary({ exec, cwd: folder, args: [], execArgv: [], silent: true })
  return {
    supervisor,
    behave,
    place: (name) => cluster.setupPrimary({ cwd: join(folder, name) }),
    lines,
    logged: (event) => {
      const { promise, resolve } = deferred()
      waiting = { event, resolve }
      return promise
    },
  }
}
