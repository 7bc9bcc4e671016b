import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { prettyFormat } from '../../lib/process/pretty-line.ts'
import { Log } from '../../lib/reporting/log.ts'

class Sink extends Writable {
  lines: string[] = []

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.lines.push(String(chunk).replace(/\n$/, ''))
    done()
  }
}

function logging(t: TestContext, color = false): { log: Log; sink: Sink } {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2024-05-06T07:08:09.010Z') })
  const sink = new Sink()
  return { log: new Log({ stream: sink, format: prettyFormat({ color }) }), sink }
}

describe('prettyFormat()', () => {
  const report = {
    event: 'error',
    id: 'ID',
    method: 'GET',
    module: 'default',
    controller: 'news',
    action: 'list',
    status: 500,
    durationMs: 1.5,
    stack: ['list (file:///news.js:1:2)', 'more'],
  }
  const access = { ...report, event: 'access', id: undefined, bytes: 12, stack: undefined }

  it('writes one readable line for each event', (t) => {
    const { log, sink } = logging(t)
    log.info({ event: 'start', url: 'http://a' }, 'Portico listens on http://a')
    log.error(report, 'boom\n')
    log.warn({ ...report, status: 404, looksLike: 'callback', stack: undefined }, 'no such')
    const short = { ...report, id: 'NEXT', durationMs: undefined, stack: undefined }
    log.error(short, 'boom')
    log.info({ ...access, id: 'ID' }, 'not shown')
    const file = { status: 304, module: '', controller: '', action: '' }
    log.info({ ...access, ...file, public: true }, 'not shown')
    log.info({ ...access, ...file }, 'not shown')
    const outside = { ...report, method: '', module: '', controller: '', action: '', durationMs: 0 }
    const stack = [
      'f (node:net:1:2)',
      'g (file:///app/node_modules/x.js:1:2)',
      'file:///app/a.js:1:2',
    ]
    log.error({ ...outside, name: 'TypeError', stack }, 'is not a function')
    log.error({ ...outside, name: 'Error', stack: stack.slice(0, 1) }, 'socket hang up')
    log.warn({ event: 'errors', total: 2, kinds: { a: 2 } }, '2 more errors')
    assert.deepEqual(sink.lines, [
      '07:08:09 info  Portico listens on http://a',
      '07:08:09 error 500 GET default/news/list boom\\u000a 1.5 ms ID at list (file:///news.js:1:2)',
      '07:08:09 warn  404 GET default/news/list no such (looks like: callback) 1.5 ms ID',
      '07:08:09 error 500 GET default/news/list boom NEXT',
      '07:08:09 info  500 GET default/news/list 1.5 ms 12 B ID',
      '07:08:09 info  304 GET public file 1.5 ms 12 B',
      '07:08:09 info  304 GET 1.5 ms 12 B',
      '07:08:09 error TypeError: is not a function 0 ms ID at file:///app/a.js:1:2',
      '07:08:09 error Error: socket hang up 0 ms ID at f (node:net:1:2)',
      '07:08:09 warn  2 more errors',
    ])
  })

  it('uses colours if they are enabled', (t) => {
    const { log, sink } = logging(t, true)
    for (const level of ['info', 'warn', 'error'] as const) log[level]({ id: 'ID' }, 'x')
    log.error(report, 'boom')
    const dim = (text: string): string => `\u001b[2m${text}\u001b[0m`
    assert.deepEqual(sink.lines, [
      `${dim('07:08:09')} \u001b[36minfo \u001b[0m x ${dim('ID')}`,
      `${dim('07:08:09')} \u001b[33mwarn \u001b[0m x ${dim('ID')}`,
      `${dim('07:08:09')} \u001b[31merror\u001b[0m x ${dim('ID')}`,
      `${dim('07:08:09')} \u001b[31merror\u001b[0m 500 GET default/news/list boom 1.5 ms ${dim('ID')} ${dim('at list (file:///news.js:1:2)')}`,
    ])
  })
})
