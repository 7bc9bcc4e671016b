import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NoControllerError } from '../../lib/http/errors.ts'
import {
  channels,
  type ErrorReport,
  FrontController,
  HttpError,
  HttpRequest,
} from '../../lib/index.ts'
import { makeReport } from '../../lib/reporting/error-report.ts'
import type { Failure } from '../../lib/reporting/failure.ts'

const CANARY = 'c4n4ry-Token'
const TOO_LONG = 'x'.repeat(300_000)

function report(failure: Partial<Failure> & Pick<Failure, 'exceptions'>): ErrorReport {
  const request = new HttpRequest({ target: `/?dsh=${CANARY}&x=${TOO_LONG}` })
  const options = { logParams: new Set<string>(), hasController: () => false }
  return makeReport('ID', { request, status: 500, ...failure }, options)
}

/** An error that counts how often each property is read. */
function counting(reads: Map<string, number>): Error {
  const error = Object.create(Error.prototype)
  const properties: Record<string, unknown> = {
    name: 'Error',
    message: `no ${CANARY}`,
    code: 0,
    cause: undefined,
    errors: undefined,
    stack: `Error: no ${CANARY}\n    at list (file:///news.js:1:2)`,
  }
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(error, name, {
      get() {
        reads.set(name, (reads.get(name) ?? 0) + 1)
        return value
      },
    })
  }
  return error
}

describe('scrubException()', () => {
  it('removes the values of the first request from an exception that several requests share', async () => {
    const shown: unknown[] = []
    const tokens = ['Alice0AfJohXkq', 'Bobq9TzB3mWcR']
    const [first] = tokens
    const shared = new HttpError(403, `The token ${first} may not read at Bobq9TzB3mWcR`)
    const list = async (request: HttpRequest): Promise<never> => {
      if (request.query.has('wrapped')) throw new Error('No team', { cause: shared })
      throw shared
    }
    const front = new FrontController({
      controllers: { news: { list } },
      onReport: (report) => shown.push(report.previous?.message ?? report.message),
    })
    const sendAs = async (token: string | undefined, query = ''): Promise<string> => {
      const headers = { authorization: `Bearer ${token}`, accept: 'text/plain' }
      const { body } = await front.handle(
        new HttpRequest({ target: `/news/list${query}`, headers }),
      )
      return String(body)
    }
    assert.match(
      await sendAs(tokens[0]),
      /The token \[authorization\] may not read at Bobq9TzB3mWcR/,
    )
    const masked = 'The token [authorization] may not read at [authorization]'
    assert.match(await sendAs(tokens[1]), /The token \[authorization\] may not read at \[auth/)
    await sendAs(tokens[1], '?wrapped')
    assert.deepEqual(shown.slice(1), [masked, masked])
    // A text that another request has not seen may be any of its values.
    shared.message += ' (again)'
    assert.doesNotMatch(await sendAs('another'), /0AfJo|9TzB/)
  })

  it('reads an error once for the page, the log, the channel and onReport', async (t) => {
    const reads = new Map<string, number>()
    const messages: unknown[] = []
    const receive = (each: unknown): void => {
      messages.push((each as ErrorReport).message)
    }
    channels.error.subscribe(receive)
    t.after(() => channels.error.unsubscribe(receive))
    const list = (): never => {
      throw counting(reads)
    }
    const front = new FrontController({
      controllers: new Map([['news', { list }]]),
      development: true,
      logger: { info() {}, warn() {}, error: receive },
      onReport: receive,
    })
    const headers = { accept: 'text/html' }
    const target = `/news/list?dsh=${CANARY}`
    const response = await front.handle(new HttpRequest({ target, headers }))
    assert.match(
      String(response.body),
      /<h1>no \[dsh\]<\/h1><p><strong>Error<\/strong>.*<span>list \(file:/,
    )
    assert.deepEqual(messages, ['no [dsh]', 'no [dsh]', 'no [dsh]'])
    assert.deepEqual(Object.fromEntries(reads), {
      name: 1,
      message: 1,
      code: 1,
      cause: 1,
      errors: 1,
      stack: 1,
    })
  })

  it('shows the location of a frame, although a value has the name of its file', () => {
    const request = new HttpRequest({
      target: '/?page=articles&f=visitors&x=%20(/srv/forged.js:1:1)',
    })
    const error = new Error('x')
    error.stack = [
      'Error: x',
      '    at visitors (file:///srv/app/articles.js:1:34)',
      '    at file:///srv/app/articles.js:2:34',
      '    at articles (/srv/forged.js:1:1)',
    ].join('\n')
    assert.deepEqual(report({ request, exceptions: [error] }).stack, [
      '[f] (file:///srv/app/articles.js:1:34)',
      'file:///srv/app/articles.js:2:34',
      '[page]',
    ])
  })

  it('withholds texts where the values are too long to be searched', () => {
    const error = Object.assign(new TypeError(`no ${CANARY}`), { code: 'ECONNREFUSED' })
    error.stack = `TypeError: no ${CANARY}\n    at f${CANARY} (file:///a/news.js:1:2)\n    at ${CANARY}:3:4`
    const { name, message, code, stack } = report({ exceptions: [error] })
    assert.deepEqual(
      { name, message, code, stack },
      {
        name: 'TypeError',
        message: '[list(2)]',
        code: 'ECONNREFUSED',
        stack: ['news.js:1:2', '[token(16)]'],
      },
    )
    const own = Object.assign(new Error('x'), { name: CANARY, code: CANARY })
    const withheld = report({ exceptions: [own] })
    assert.deepEqual([withheld.name, withheld.code], ['token(12)', 'token(12)'])
    assert.doesNotMatch(JSON.stringify(report({ exceptions: [own, error] })), /c4n4ry/)
  })

  it('searches no values for a message that contains requested names only', () => {
    const target = `/?x=${TOO_LONG}`
    const request = new HttpRequest({ target }).forward({ controller: '', action: 'x' })
    const { name, message } = report({ request, exceptions: [new NoControllerError('')] })
    assert.deepEqual([name, message], ['NoControllerError', 'Invalid controller specified ()'])
  })
})
