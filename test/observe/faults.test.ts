import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest, stateOf } from '../../lib/http/request.ts'
import { HttpError, type HttpResponse } from '../../lib/index.ts'
import { Faults } from '../../lib/observe/faults.ts'
import { createFront } from '../support/front.ts'

const failureOf = async (
  target: string,
  logger?: { error(): void; warn(): void; info(): void },
) => {
  const fail = (): never => {
    throw new TypeError('This fails')
  }
  const front = createFront({ news: { fail } }, { logger })
  const { request, exceptions, status } = await front.handle(new HttpRequest({ target }))
  return { request, exceptions, status }
}
const silent = { error() {}, warn() {}, info() {} }

describe('Faults', () => {
  it('counts the errors with one fingerprint, with the ids of the latest ones', async () => {
    const faults = new Faults()
    const ids: (string | undefined)[] = []
    for (let i = 0; i < 7; i++) {
      const failure = await failureOf('/news/fail', silent)
      ids.unshift(failure.request?.id)
      faults.record(failure, 'news/fail')
    }
    const [fault, ...others] = faults.list
    assert.deepEqual(others, [])
    assert.deepEqual(fault?.ids, ids.slice(0, 5))
    const { count, status, type, route } = fault ?? {}
    assert.deepEqual([count, status, type, route], [7, 500, 'EXCEPTION_OTHER', 'news/fail'])
    assert.match(fault?.fingerprint ?? '', /^EXCEPTION_OTHER TypeError .*news\/fail$/)
  })

  it('lists copies, which later errors do not change', async () => {
    const faults = new Faults()
    const failure = await failureOf('/news/fail', silent)
    faults.record(failure, 'news/fail')
    const { list } = faults
    faults.record(failure, 'news/fail')
    assert.deepEqual([list[0]?.count, list[0]?.ids.length], [1, 1])
  })

  it('counts a request under its own error, and not under one that the application has reported for it', async () => {
    const faults = new Faults()
    const front = createFront(
      {
        news: {
          fail() {
            throw new TypeError('This fails')
          },
          list(request: HttpRequest) {
            front.report(new RangeError('The cache is down'), { request })
          },
        },
        error: {
          error(request: HttpRequest, response: HttpResponse) {
            front.report(new RangeError('The template is broken'), { request })
            response.status = 500
          },
        },
      },
      { logger: silent },
    )
    for (let i = 0; i < 2; i++) {
      faults.record(await front.handle(new HttpRequest({ target: '/news/fail' })), 'news/fail')
    }
    assert.deepEqual(
      faults.list.map(({ fingerprint, count, ids }) => [
        fingerprint.replace(/\S+:\d+:\d+/, 'frame'),
        count,
        ids.length,
      ]),
      [['EXCEPTION_OTHER TypeError frame news/fail', 2, 2]],
    )
    // A body fails after the action.
    const { request } = await front.handle(new HttpRequest({ target: '/news/list' }))
    const error = new SyntaxError('The cursor is lost')
    front.report(error, { request })
    faults.record({ request, exceptions: [error], status: 500 }, 'news/list')
    const last = faults.list.find(({ route }) => route === 'news/list')
    assert.match(last?.fingerprint ?? '', /^EXCEPTION_OTHER SyntaxError .* news\/list$/)
    assert.equal(last?.ids.length, 1)
  })

  it('has no id that nobody could find, and also errors outside of requests', async () => {
    const faults = new Faults()
    faults.record(await failureOf('/nothing'), null)
    faults.record({ exceptions: [new HttpError(500, 'x')], request: undefined, status: 500 }, null)
    assert.deepEqual(
      faults.list.map(({ status, ids, route }) => [status, ids, route]),
      [
        [500, [], ''],
        [404, [], ''],
      ],
    )
  })

  it('keeps the latest, and exact counts; 404s do not hide faults', async () => {
    const faults = new Faults()
    faults.record(await failureOf('/news/fail'), 'news/fail')
    for (let i = 0; i < 300; i++) faults.record(await failureOf(`/scan${i}`), null)
    const { list } = faults
    assert.equal(list.length, 52)
    assert.equal(
      list.reduce((sum, { count }) => sum + count, 0),
      301,
    )
    assert.equal(list[0]?.status, 500)
    assert.match(list.at(-2)?.fingerprint ?? '', /scan299/)
    assert.deepEqual([list.at(-1)?.fingerprint, list.at(-1)?.count], ['(other)', 250])
  })

  it('keeps the faults of other actions, whatever frames a client forges for one', async () => {
    const faults = new Faults()
    const reported = await failureOf('/news/fail')
    const record = (action: string, place: string, i: number): void => {
      const request = new HttpRequest({ target: `/${action}` })
      const fingerprint = `EXCEPTION_OTHER Error ${place}:${i}:1 ${action}`
      stateOf(request).message.reported = {
        exception: reported.exceptions[0],
        fingerprint,
        id: 'x',
      }
      faults.record({ ...reported, request }, action)
    }
    for (let i = 0; i < 10; i++) record(`news/fail${i}`, 'news.js', i)
    for (let i = 0; i < 500; i++) record('forged/save', 'forged.js', i)
    const actions = faults.list.map(({ fingerprint }) => fingerprint.split(' ').at(-1))
    assert.deepEqual(actions.slice(0, 11), [
      ...Array.from({ length: 10 }, (_, i) => `news/fail${i}`),
      'forged/save',
    ])
    assert.deepEqual(actions.length, 51)
  })
})
