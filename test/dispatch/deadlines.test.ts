import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deadlines } from '../../lib/dispatch/deadlines.ts'

const LONG_MS = 60_000
const never = new Promise<never>(() => {})
const late = (): Error => new Error('late')
const timers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length

describe('Deadlines.within()', () => {
  it('settles as the promise does', async () => {
    const deadlines = new Deadlines(LONG_MS)
    const fault = new Error('fault')
    assert.equal(await deadlines.within(Promise.resolve(1), late), 1)
    await assert.rejects(deadlines.within(Promise.reject(fault), late), fault)
  })

  it('rejects with what it is told when the time is over', async () => {
    const deadlines = new Deadlines(30)
    const start = performance.now()
    await assert.rejects(deadlines.within(never, late), { message: 'late' })
    assert.ok(performance.now() - start >= 30)
  })

  it('asks for the error only when the time is over', async () => {
    const deadlines = new Deadlines(10)
    let asked = 0
    const expired = (): Error => {
      asked++
      return late()
    }
    await deadlines.within(Promise.resolve(), expired)
    await assert.rejects(deadlines.within(never, late))
    assert.equal(asked, 0)
    await assert.rejects(deadlines.within(never, expired))
    assert.equal(asked, 1)
  })

  it('ends each in its own time, the first to come first', async () => {
    const deadlines = new Deadlines(30)
    const ended: string[] = []
    const wait = (name: string): Promise<void> =>
      deadlines.within(never, late).catch(() => void ended.push(name))
    const first = wait('first')
    const start = await new Promise<number>((resolve) =>
      setTimeout(() => resolve(performance.now()), 15),
    )
    const second = wait('second')
    await first
    assert.deepEqual(ended, ['first'])
    await second
    assert.deepEqual(ended, ['first', 'second'])
    assert.ok(performance.now() - start >= 30)
  })

  it('lets the others go when one is over', async () => {
    const deadlines = new Deadlines(30)
    const slow = Promise.allSettled([
      deadlines.within(never, late),
      deadlines.within(Promise.resolve('in time'), late),
    ])
    const [over, inTime] = await slow
    assert.equal(over.status, 'rejected')
    assert.deepEqual(inTime, { status: 'fulfilled', value: 'in time' })
    assert.equal(await deadlines.within(Promise.resolve('after'), late), 'after')
  })

  it('ignores what comes of a promise after its time', async () => {
    const { promise, reject } = withReject()
    await assert.rejects(new Deadlines(10).within(promise, late), { message: 'late' })
    reject(new Error('later still'))
    await assert.rejects(promise, { message: 'later still' })
  })

  it('waits with a single timer, that keeps no idle process alive', async () => {
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

function withReject(): { promise: Promise<never>; reject: (reason: Error) => void } {
  let reject: (reason: Error) => void = () => {}
  const promise = new Promise<never>((_, no) => {
    reject = no
  })
  return { promise, reject }
}
