import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addBuckets,
  BUCKETS,
  bucketOf,
  emptyBuckets,
  quantile,
} from '../../lib/observe/histogram.ts'

describe('bucketOf', () => {
  it('includes the upper bound of a bucket, as `le` does', () => {
    for (const [i, bound] of BUCKETS.entries()) {
      assert.equal(bucketOf(bound), i)
      assert.equal(bucketOf(bound * 1.000_001), i + 1)
    }
    assert.equal(bucketOf(0), 0)
    assert.equal(bucketOf(3_600), BUCKETS.length)
  })
})

describe('quantile', () => {
  const filled = (...durations: readonly number[]): number[] => {
    const buckets = emptyBuckets()
    const count = (seconds: number): void => {
      const index = bucketOf(seconds)
      buckets[index] = (buckets[index] ?? 0) + 1
    }
    durations.forEach(count)
    return buckets
  }

  it('is undefined without a duration', () => {
    assert.equal(quantile(emptyBuckets(), 0.5), undefined)
  })

  it('is linear within a bucket', () => {
    const buckets = filled(2.6, 3, 4, 5)
    assert.equal(quantile(buckets, 0), 2.5)
    assert.equal(quantile(buckets, 0.5), 3.75)
    assert.equal(quantile(buckets, 1), 5)
  })

  it('skips empty buckets', () => {
    const buckets = filled(0.000_5, 0.2)
    assert.equal(quantile(buckets, 0.5), 0.001)
    assert.equal(quantile(buckets, 1), 0.25)
  })

  it('is the last bound for durations beyond it', () => {
    assert.equal(quantile(filled(60), 0.99), 10)
  })

  it('is that of all durations after an addition', () => {
    const buckets = filled(0.06, 0.07)
    addBuckets(buckets, filled(0.08, 0.09))
    assert.deepEqual(buckets, filled(0.06, 0.07, 0.08, 0.09))
  })
})
