import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Deadlines } from '../../lib/dispatch/deadlines.ts'

// Longer than a test run: a deadline that a failed test leaves must not fail a later one.
const LONG_MS = 3_600_000
const never = new Promise<never>(() => {})
const late = (): Error => new Error('late')
const timers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length

describe('Deadlines.within()', () => {
  it('settles as the promise settles', async () => {
    const deadlines = new Deadlines(LONG_MS)
    const fault = new Error('fault')
    assert.equal(await deadlines.within(Promise.resolve(1), late), 1)
    await assert.rejects(deadlines.within(Promise.reject(fault), late), fault)
  })

  it('rejects with the given error when the time is over', async (t) => {
    const advance = mockClock(t)
    let isPending = true
    const result = new Deadlines(30).within(never, late).finally(() => {
      isPending = false
    })
    await advance(29)
    assert.ok(isPending)
    await Promise.all([assert.rejects(result, { message: 'late' }), advance(1)])
  })

  it('lets other work run while many promises expire at the same time', async () => {
    const deadlines = new Deadlines(5)
    let inTurn = 0
    let most = 0
    const expired = (): Error => {
      if (inTurn++ === 0) {
        setImmediate(() => {
          inTurn = 0
        })
      }
      most = Math.max(most, inTurn)
      return late()
    }
    const results = Array.from({ length: 100 }, () => deadlines.within(never, expired))
    for (const { status } of await Promise.allSettled(results)) assert.equal(status, 'rejected')
    assert.ok(most <= 8, `${most} in one turn`)
  })

  it('creates the error only when the time is over', async (t) => {
    const advance = mockClock(t)
    const deadlines = new Deadlines(10)
    let created = 0
    const expired = (): Error => {
      created++
      return late()
    }
    await deadlines.within(Promise.resolve(), expired)
    await Promise.all([assert.rejects(deadlines.within(never, late)), advance(10)])
    assert.equal(created, 0)
    await Promise.all([assert.rejects(deadlines.within(never, expired)), advance(10)])
    assert.equal(created, 1)
  })

  it('rejects each promise at its own deadline, in order', async (t) => {
    const advance = mockClock(t)
    const deadlines = new Deadlines(30)
    const ended: string[] = []
    const wait = (name: string): Promise<void> =>
      deadlines.within(never, late).catch(() => void ended.push(name))
    const first = wait('first')
    await advance(15)
    const second = wait('second')
    await advance(15)
    await first
    assert.deepEqual(ended, ['first'])
    await advance(14)
    assert.deepEqual(ended, ['first'])
    await advance(1)
    await second
    assert.deepEqual(ended, ['first', 'second'])
  })

  it('does not affect the promises that settle in time', async (t) => {
    const advance = mockClock(t)
    const deadlines = new Deadlines(30)
    const slow = Promise.allSettled([
      deadlines.within(never, late),
      deadlines.within(Promise.resolve('in time'), late),
    ])
    const [[over, inTime]] = await Promise.all([slow, advance(30)])
    assert.equal(over.status, 'rejected')
    assert.deepEqual(inTime, { status: 'fulfilled', value: 'in time' })
    assert.equal(await deadlines.within(Promise.resolve('after'), late), 'after')
  })

  it('ignores how a promise settles after its deadline', async (t) => {
    const advance = mockClock(t)
    const { promise, reject } = withReject()
    const result = new Deadlines(10).within(promise, late)
    await Promise.all([assert.rejects(result, { message: 'late' }), advance(10)])
    reject(new Error('later still'))
    await assert.rejects(promise, { message: 'later still' })
  })

  it('uses one timer, which keeps no idle process alive', async () => {
    const deadlines = new Deadlines(LONG_MS)
    const before = timers()
    const { promise, reject } = withReject()
    const all = [1, 2, 3].map(() => deadlines.within(promise, late))
    assert.equal(timers(), before + 1)
    reject(new Error('done'))
    await Promise.allSettled(all)
    await new Promise(setImmediate)
    assert.equal(timers(), before)

    const again = deadlines.within(Promise.resolve(), late)
    assert.equal(timers(), before + 1)
    await again
    await new Promise(setImmediate)
    assert.equal(timers(), before)
  })
})

/** Replaces the timers and the monotonic clock. The returned function advances both; promises settle before and after. */
function mockClock(t: TestContext): (ms: number) => Promise<void> {
  let now = 0
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(process, 'hrtime', () => [0, now * 1_000_000])
  return async (ms) => {
    await new Promise(setImmediate)
    now += ms
    t.mock.timers.tick(ms)
    await new Promise(setImmediate)
  }
}

/** Creates a promise that the test rejects itself. */
function withReject(): { promise: Promise<never>; reject: (reason: Error) => void } {
  let reject: (reason: Error) => void = () => {}
  const promise = new Promise<never>((_, no) => {
    reject = no
  })
  return { promise, reject }
}
