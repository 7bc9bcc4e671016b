import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { SourceLine } from '../../lib/controllers/development-details.ts'
import { type LocatedFrame, locateFrame, readExcerpt } from '../../lib/dispatch/source-excerpt.ts'
import { createFolder, writeFileIn } from '../support/folder.ts'

describe('locateFrame()', () => {
  const locate = (frame: string): LocatedFrame | undefined => locateFrame(frame, ['/srv/site'])

  it('returns function, file, line and column of a frame of the application', () => {
    const file = 'controllers/news.js'
    const expected = { name: 'view', path: `/srv/site/${file}`, file, line: 12, column: 9 }
    for (const frame of [
      'view (file:///srv/site/controllers/news.js:12:9)',
      'Module.view (file:///srv/site/controllers/news.js:12:9)',
      'Object.view (/srv/site/controllers/news.js:12:9)',
      'view (file:///srv/site/controllers/news.js?version=2:12:9)',
    ]) {
      assert.deepEqual(locate(frame), expected, frame)
    }
  })

  it('reads the forms of a frame that V8 writes', () => {
    const nameAndFile = (frame: string): unknown[] => {
      const { name, file } = locate(frame) ?? {}
      return [name, file]
    }
    assert.deepEqual(nameAndFile('file:///srv/site/a.js:1:2'), ['(anonymous)', 'a.js'])
    assert.deepEqual(nameAndFile('async file:///srv/site/a.js:1:2'), ['(anonymous)', 'a.js'])
    assert.deepEqual(nameAndFile('Object.<anonymous> (/srv/site/a.cjs:1:2)'), [
      '(anonymous)',
      'a.cjs',
    ])
    assert.deepEqual(nameAndFile('async find (file:///srv/site/a.ts:1:2)'), ['async find', 'a.ts'])
    assert.deepEqual(nameAndFile('new News (file:///srv/site/a%20(b)/c.mjs:1:2)'), [
      'new News',
      'a (b)/c.mjs',
    ])
    assert.deepEqual(nameAndFile('Map.get [as run] (file:///srv/site/a.js:1:2)'), [
      'Map.get [as run]',
      'a.js',
    ])
  })

  it('returns undefined for Node, libraries, Portico, other folders and what is no code', () => {
    const own = new URL('../../lib/dispatch/loop.js', import.meta.url)
    for (const frame of [
      'node:internal/process/task_queues:95:5',
      'next (node:internal/streams:1:2)',
      'query (file:///srv/site/node_modules/orm/index.js:1:2)',
      'view (file:///srv/site2/news.js:1:2)',
      'view (file:///srv/site/../other/news.js:1:2)',
      'view (file:///etc/passwd:1:2)',
      'view (file:///srv/site/.env:1:2)',
      'view (file:///srv/site:1:2)',
      'view (file:///srv/site/%zz.js:1:2)',
      'eval (eval at view (file:///srv/site/a.js:1:2), <anonymous>:1:1)',
      'view (https://a.example/news.js:1:2)',
      'Array.map (<anonymous>)',
      '',
    ]) {
      assert.equal(locate(frame), undefined, frame)
    }
    const root = [dirname(dirname(dirname(fileURLToPath(own))))]
    assert.equal(locateFrame(`runLoop (${own}:1:2)`, root), undefined)
    assert.ok(locateFrame(`test (${new URL('../x.js', own)}:1:2)`.replace('/lib/', '/'), root))
  })
})

describe('readExcerpt()', () => {
  it('returns the lines around a frame, without their common indentation', (t) => {
    const code = Array.from({ length: 20 }, (_, i) => `\t\t${'  '.repeat(i % 2)}line ${i + 1}`)
    const lines = excerpt(t, { 'a.js': code.join('\r\n') }, 10)
    assert.deepEqual(
      lines.map(({ line }) => line),
      [5, 6, 7, 8, 9, 10, 11, 12, 13],
    )
    assert.deepEqual(lines[5], { line: 10, text: '  line 10' })
    assert.deepEqual(lines[6], { line: 11, text: 'line 11' })
  })

  it('ends with the file', (t) => {
    assert.deepEqual(excerpt(t, { 'a.js': 'one\ntwo' }, 2), [
      { line: 1, text: 'one' },
      { line: 2, text: 'two' },
    ])
  })

  it('cuts a long line around the column', (t) => {
    const code = `${'a'.repeat(500_000)}HERE${'b'.repeat(500_000)}`
    const [line] = excerpt(t, { 'a.js': code }, 1, 500_001)
    assert.match(line?.text ?? '', /^\.\.\.a+HEREb+\.\.\.$/)
    assert.ok((line?.text.length ?? 0) < 200)
    const [start] = excerpt(t, { 'a.js': code }, 1, 3)
    assert.match(start?.text ?? '', /^a+\.\.\.$/)
  })

  it('is empty for a missing file, a folder, a huge file, and a line past the end', (t) => {
    const files = { 'a.js': 'one', 'huge.js': 'x\n'.repeat(600_000) }
    assert.deepEqual(excerpt(t, files, 9), [])
    assert.deepEqual(excerpt(t, files, 0), [])
    assert.deepEqual(excerpt(t, files, 1, 1, 'missing.js'), [])
    assert.deepEqual(excerpt(t, files, 1, 1, 'huge.js'), [])
    const folder = createFolder(t)
    mkdirSync(join(folder, 'folder.js'))
    assert.deepEqual(readExcerpt(frameIn(folder, 'folder.js'), [folder]), [])
  })

  it('follows no link out of the application', (t) => {
    const secret = createFolder(t, { 'secret.js': 'const key = 1', passwd: 'root' })
    const folder = createFolder(t)
    symlinkSync(join(secret, 'secret.js'), join(folder, 'link.js'))
    symlinkSync(join(secret, 'passwd'), join(folder, 'passwd.js'))
    for (const file of ['link.js', 'passwd.js']) {
      assert.deepEqual(readExcerpt(frameIn(folder, file), [folder]), [], file)
    }
    assert.equal(readExcerpt(frameIn(folder, 'link.js'), [folder, secret]).length, 1)
  })

  it('finds the file of a frame that it located', (t) => {
    const other = createFolder(t, { 'news.js': 'other' })
    const folder = createFolder(t, { 'news.js': 'export const a = 1' })
    const folders = [other, folder]
    const frame = locateFrame(`view (${pathToFileURL(join(folder, 'news.js'))}:1:1)`, folders)
    assert.deepEqual(frame && readExcerpt(frame, folders), [
      { line: 1, text: 'export const a = 1' },
    ])
  })
})

function excerpt(
  t: Parameters<typeof createFolder>[0],
  files: Record<string, string>,
  line: number,
  column = 1,
  file = 'a.js',
): readonly SourceLine[] {
  const folder = createFolder(t)
  for (const [name, text] of Object.entries(files)) writeFileIn(folder, name, text)
  return readExcerpt(frameIn(folder, file, line, column), [folder])
}

function frameIn(folder: string, file: string, line = 1, column = 1): LocatedFrame {
  return { name: 'view', path: join(folder, file), file, line, column }
}
