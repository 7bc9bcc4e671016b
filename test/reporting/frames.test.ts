import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isApplicationFrame, locationOf } from '../../lib/reporting/frames.ts'
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
      ['eval (eval at list (file:///srv/news.js:1:2), <anonymous>:1:1)', ''],
      ['SECRET (SECRET:1:1)', ''],
      ['x (https://a.example/Kq7xZ9vT2mWpL4sR8nBd.js:1:1)', ''],
      ['', ''],
    ]
    for (const [frame, location] of table) assert.equal(locationOf(frame), location, frame)
  })
})
