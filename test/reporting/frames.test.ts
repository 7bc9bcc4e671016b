import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { framesOf, isApplicationFrame, locationOf } from '../../lib/reporting/frames.ts'
import { repositoryFile } from '../support/repository.ts'

describe('isApplicationFrame()', () => {
  it('is true for code of the application only', () => {
    const table: [frame: string, isOwn: boolean][] = [
      ['list (file:///srv/app/controllers/news.js:12:9)', true],
      ['async Object.list (/srv/app/lib/news.cjs:12:9)', true],
      ['C:\\app\\news.js:12:9', true],
      ['node:internal/process/task_queues:95:5', false],
      ['process.processTicksAndRejections (node:internal/process/task_queues:95:5)', false],
      ['parse (/srv/app/node_modules/zod/lib/index.js:1:2)', false],
      ['parse (C:\\app\\node_modules\\zod\\index.js:1:2)', false],
      [`run (file://${repositoryFile('dist/lib/dispatch/loop.js')}:1:2)`, false],
      [`async file://${repositoryFile('dist/server.js')}:1:2`, false],
      [`list (file://${repositoryFile('dist/test/support/loop.js')}:1:2)`, true],
    ]
    for (const [frame, isOwn] of table) assert.equal(isApplicationFrame(frame), isOwn, frame)
  })
})

describe('locationOf()', () => {
  it('returns file, line and column, without folders, functions and queries', () => {
    const table: [frame: string, location: string][] = [
      ['list (file:///srv/app/controllers/news.js:12:9)', 'news.js:12:9'],
      ['/srv/app/news.test.cts:12:9', 'news.test.cts:12:9'],
      ['C:\\app\\news.mjs:12:9', 'news.mjs:12:9'],
      ['list (file:///srv/news.js?version=SECRET:12:9)', 'news.js:12:9'],
      ['run (file:///srv/webhook.js:2:39)', 'webhook.js:2:39'],
      ['run (file:///srv/kafka.mjs:2:39)', 'kafka.mjs:2:39'],
      ['eval (eval at list (file:///srv/news.js:1:2), <anonymous>:1:1)', ''],
      ['SECRET (SECRET:1:1)', ''],
      // Only the end of a frame is examined.
      [`list (/srv/news.js?${'a'.repeat(100)}:1:2)`, 'news.js:1:2'],
      [`list (/srv/news.js?${'a'.repeat(200)}:1:2)`, ''],
      ['x (https://a.example/Kq7xZ9vT2mWpL4sR8nBd.js:1:1)', 'file:1:1'],
      ['', ''],
    ]
    for (const [frame, location] of table) assert.equal(locationOf(frame), location, frame)
  })
})

describe('framesOf()', () => {
  const forged = 'x\n    at hunterpw (/srv/hunterq.js:1:1)'
  const own = ['list (file:///srv/app/news.js:12:9)', 'async run (file:///srv/app/run.js:1:2)']
  const stackOf = (header: string, ...frames: string[]): string =>
    [header, ...frames.map((frame) => `    at ${frame}`)].join('\n')
  const native = stackOf(
    `Error: bad ${forged}`,
    own[0] ?? '',
    'new Promise (<anonymous>)',
    own[1] ?? '',
  )

  it('returns the frames after the message, also if that got a beginning or an end', () => {
    for (const message of [
      `bad ${forged}`,
      `wrapped: bad ${forged}`,
      `bad ${forged} (in news)`,
      `a: bad ${forged}: b`,
      `bad ${forged}\nin news`,
      `bad ${forged}\n    in news`,
      `a: bad ${forged}\n\tat news`,
      `${'select 1, '.repeat(200)}: bad ${forged}`,
    ]) {
      assert.deepEqual(
        framesOf(native, message, 'Error'),
        { lines: own, followMessage: true },
        message,
      )
    }
    const quoted = stackOf('Error: i\n    at hunterpw (/srv/hunterq.js:1:1)', ...own)
    const message = 'i: i\n    at hunterpw (/srv/hunterq.js:1:1)'
    assert.deepEqual(framesOf(quoted, message, 'Error'), { lines: own, followMessage: true })
    const decorated = `file:///srv/app/news.js:3\n  const = 1\n        ^\n\n${stackOf('SyntaxError: no', ...own)}`
    assert.deepEqual(framesOf(decorated, 'no', 'SyntaxError'), { lines: own, followMessage: true })
    // A client may have begun the message with letters that the added text has too.
    const short = stackOf(`Error: i${forged}\ni`, ...own)
    assert.deepEqual(framesOf(short, `Failing: i${forged}\ni`, 'Error').lines, own)
    // node:vm puts the line of the script before the name.
    const script = `/srv/rule.js:2\n  throw new Error('no')\n  ^\n\n${stackOf('Error: no', ...own)}`
    assert.deepEqual(framesOf(script, 'no', 'Error'), { lines: own, followMessage: true })
    const node = stackOf('TypeError [ERR_X]: no', ...own)
    assert.deepEqual(framesOf(node, 'ctx: no', 'TypeError'), { lines: own, followMessage: true })
    for (const header of ['Error', 'news.Missing', 'TypeError [ERR_X]']) {
      assert.deepEqual(framesOf(stackOf(header, ...own), '', 'E'), {
        lines: own,
        followMessage: true,
      })
    }
    assert.equal(framesOf(native, '', 'Error').followMessage, false)
  })

  it('returns the frames after any name, as Node writes the header', () => {
    const names = ['Not Found', 'Payment-Error', 'app:NotFound', 'Ошибка', 'E/X', '', 'Err', forged]
    for (const name of names) {
      for (const message of ['', name, 'Error', 'o', 'no such', forged]) {
        const error = Object.assign(new Error(message), { name })
        const header = Error.prototype.toString.call(error)
        const expected = { lines: own, followMessage: true }
        assert.deepEqual(framesOf(stackOf(header, ...own), message, name), expected, header)
      }
    }
    const node = stackOf('AggregateError [ECONNREFUSED]: ', ...own)
    assert.deepEqual(framesOf(node, '', 'AggregateError'), { lines: own, followMessage: true })
    // The message was removed after the stack was read.
    const rest = ['forged (/srv/f.js:1:1)\nx', ...own]
    for (const [header, name] of [
      ['-', ''],
      ['Error: ', 'Error'],
    ] as const)
      assert.equal(framesOf(stackOf(header, ...rest), '', name).followMessage, false)
    // The name was changed after the stack was read.
    for (const name of ['E', 'Not Found', '']) {
      const expected = { lines: own, followMessage: true }
      assert.deepEqual(framesOf(stackOf('Error', ...own), '', name), expected)
      assert.deepEqual(framesOf(stackOf('Error: no', ...own), 'no', name), expected)
    }
  })

  it('finds the end of a long message, also if that got a beginning or an end', () => {
    for (const length of [63, 64, 4_095, 4_096, 10_000, 100_000]) {
      const long = 'bad'.repeat(length)
      const stack = stackOf(`Error: ${long}`, ...own)
      for (const message of [long, `wrapped: ${long}`, `${long} (in news)`, `a: ${long}: b`]) {
        assert.deepEqual(
          framesOf(stack, message, 'Error'),
          { lines: own, followMessage: true },
          message.slice(-9),
        )
      }
      const other = stackOf(`Error: ${long}, and more`, ...own)
      assert.equal(framesOf(other, `wrapped: ${long}`, 'Error').followMessage, false)
    }
  })

  it('returns the first block of frames after the message', () => {
    const assembled = `${native}\ncaused by: ${forged}\n    at more (/srv/more.js:1:1)`
    assert.deepEqual(framesOf(assembled, `bad ${forged}`, 'Error'), {
      lines: own,
      followMessage: true,
    })
  })

  it('leaves out the frames of Portico, unless there are no others but those of Node', () => {
    const portico = `RequestStages.dispatch (file://${repositoryFile('dist/lib/dispatch/loop.js')}:1:2)`
    const frames = [own[0] ?? '', portico, own[1] ?? '']
    assert.deepEqual(framesOf(stackOf('Error: no', ...frames), 'no', 'Error').lines, own)
    for (const frames of [[portico], [portico, 'listOnTimeout (node:internal/timers:1:2)']])
      assert.deepEqual(framesOf(stackOf('Error: no', ...frames), 'no', 'Error').lines, frames)
  })

  it('returns the last block if the message was replaced, which may have frames of the message', () => {
    const stack = stackOf('Error: x\n    at forged (/srv/f.js:1:1)\nsecond line', ...own)
    for (const message of ['replaced', 'an x\n    at f', 'x\n    at f...']) {
      assert.equal(framesOf(stack, message, 'Error').followMessage, false, message)
    }
    assert.deepEqual(framesOf(stack, 'replaced', 'Error'), { lines: own, followMessage: false })
    assert.deepEqual(framesOf('', 'x', 'Error'), { lines: [], followMessage: false })
  })
})
