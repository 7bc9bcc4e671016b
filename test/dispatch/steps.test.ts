import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run, type Steps, wait } from '../../lib/dispatch/steps.ts'

describe('run()', () => {
  it('returns at once when no step waits', () => {
    // biome-ignore lint/correctness/useYield: the test needs steps that never wait.
    function* steps(): Steps<number> {
      return 1
    }
    assert.equal(run(steps()), 1)
  })

  it('throws at once when a step fails before the first wait', () => {
    // biome-ignore lint/correctness/useYield: the test needs steps that never wait.
    function* steps(): Steps<number> {
      throw new RangeError('x')
    }
    assert.throws(() => run(steps()), RangeError)
  })

  it('waits for one promise after the other, and for other thenables', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a thenable needs it.
    const like: PromiseLike<number> = { then: (resolve) => Promise.resolve(3).then(resolve) }
    function* inner(): Steps<number> {
      return (yield* wait(Promise.resolve(2))) * (yield* wait(like))
    }
    function* steps(): Steps<number> {
      return (yield* wait(Promise.resolve(7))) * (yield* inner())
    }
    assert.equal(await run(steps()), 42)
  })

  it('throws a rejection at the wait, and rejects with what the steps throw afterwards', async () => {
    const caught: unknown[] = []
    const reason = new Error('reason')
    function* steps(): Steps<never> {
      try {
        yield* wait(Promise.reject(reason))
      } catch (error) {
        caught.push(error)
      }
      yield* wait(Promise.resolve())
      throw new RangeError('after')
    }
    await assert.rejects(async () => run(steps()), RangeError)
    assert.deepEqual(caught, [reason])
  })
})
