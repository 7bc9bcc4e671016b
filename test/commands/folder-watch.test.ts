import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { FolderWatch } from '../../lib/commands/folder-watch.ts'

describe('FolderWatch', () => {
  it('returns the files that were written, each once', async (t) => {
    const { folder, watch } = await watched(t)
    await writeFile(join(folder, 'b.js'), '')
    await writeFile(join(folder, 'a.js'), '')
    await watch.changed()
    assert.deepEqual(watch.take(), ['a.js', 'b.js'])
    assert.deepEqual(watch.take(), [])
  })

  it('notices each time that a file is saved by renaming another', async (t) => {
    const { folder, watch } = await watched(t)
    for (let i = 0; i < 3; i++) {
      await writeFile(join(folder, '.new'), String(i))
      await rename(join(folder, '.new'), join(folder, 'a.js'))
      await watch.changed()
      assert.deepEqual(watch.take(), ['a.js'])
    }
  })

  it('watches folders below it, new ones too', async (t) => {
    const { folder, watch } = await watched(t)
    await writeFile(join(folder, 'module', 'a.js'), '')
    await watch.changed()
    assert.deepEqual(watch.take(), ['module/a.js'])
    await mkdir(join(folder, 'new', 'deep'), { recursive: true })
    await watch.changed()
    watch.take()
    await writeFile(join(folder, 'new', 'deep', 'a.js'), '')
    await watch.changed()
    assert.deepEqual(watch.take(), ['new/deep/a.js'])
  })

  it('notices that a folder was removed', async (t) => {
    const { folder, watch } = await watched(t)
    await rm(join(folder, 'module'), { recursive: true })
    await watch.changed()
    assert.ok(watch.take().includes('module'))
  })

  for (const name of ['', 'module']) {
    it(`watches a folder that was removed and created again (${name || 'the folder itself'})`, async (t) => {
      const { folder, watch } = await watched(t)
      for (const isQuick of [true, false]) {
        await rm(join(folder, name), { recursive: true })
        if (!isQuick) {
          await watch.changed()
          watch.take()
        }
        await mkdir(join(folder, name))
        await watch.changed()
        watch.take()
        await writeFile(join(folder, name, 'a.js'), '')
        await watch.changed()
        assert.ok(watch.take().includes(join(name, 'a.js')))
      }
    })
  }

  it('ignores node_modules, dotfiles and temporary files of editors', async (t) => {
    const { folder, watch } = await watched(t)
    const names = ['node_modules/a.js', '.git/a', '.a.js.swp', 'a.js~', '#a.js#', 'seen.js']
    for (const name of names) await writeFile(join(folder, name), '')
    await watch.changed()
    assert.deepEqual(watch.take(), ['seen.js'])
  })

  it('notices that a link above it was exchanged, each time', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'portico-'))
    t.after(() => rm(root, { recursive: true }))
    for (const release of ['1', '2']) await mkdir(join(root, release, 'app'), { recursive: true })
    await symlink('1', join(root, 'current'))
    const watch = await FolderWatch.open(join(root, 'current', 'app'))
    t.after(() => watch.close())
    for (const release of ['2', '1', '2']) {
      await symlink(release, join(root, '.next'))
      await rename(join(root, '.next'), join(root, 'current'))
      await watch.changed()
      assert.deepEqual(watch.take(), [join(root, 'current')])
    }
    await writeFile(join(root, '2', 'app', 'a.js'), '')
    await watch.changed()
    assert.deepEqual(watch.take(), ['a.js'])
  })

  it('follows no circle of links', async (t) => {
    const { folder, watch } = await watched(t)
    await symlink(folder, join(folder, 'module', 'up'))
    await watch.changed()
    assert.deepEqual(watch.take(), ['module/up'])
  })

  it('watches several folders', async (t) => {
    const { folder, watch } = await watched(t)
    const both = await FolderWatch.open(join(folder, 'module'), join(folder, '.git'))
    t.after(() => both.close())
    await writeFile(join(folder, '.git', 'a'), '')
    await writeFile(join(folder, 'module', 'b'), '')
    await both.changed()
    assert.deepEqual(both.take(), ['a', 'b'])
    await watch.changed()
  })

  it('watches single files, with their whole paths', async (t) => {
    const { folder, watch } = await watched(t)
    const other = await mkdtemp(join(tmpdir(), 'portico-'))
    t.after(() => rm(other, { recursive: true }))
    const [a, b] = [join(other, 'a.js'), join(other, 'b.js')]
    watch.addFile(a)
    watch.addFile(b)
    watch.addFile(join(folder, 'module', 'seen.js'))
    await writeFile(join(other, 'ignored.js'), '')
    await writeFile(join(other, 'new'), '')
    await rename(join(other, 'new'), b)
    await writeFile(a, '')
    await writeFile(join(folder, 'module', 'seen.js'), '')
    await watch.changed()
    assert.deepEqual(watch.take(), [a, b, 'module/seen.js'].sort())
    assert.throws(() => watch.addFile('/no/such/file.js'), { code: 'ENOENT' })
  })

  for (const name of ['lib', 'lib/deep']) {
    it(`watches the folder of a single file that was removed and created again (${name})`, {
      timeout: 10_000,
    }, async (t) => {
      const other = await mkdtemp(join(tmpdir(), 'portico-'))
      t.after(() => rm(other, { recursive: true }))
      const folder = join(other, name)
      const file = join(folder, 'a.js')
      await mkdir(folder, { recursive: true })
      await writeFile(file, '')
      const { watch } = await watched(t)
      watch.addFile(file)
      const change = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
        await act()
        await watch.changed()
        return watch.take()
      }
      for (const isQuick of [false, true, false]) {
        const remove = (): Promise<void> => rm(join(other, 'lib'), { recursive: true })
        const restore = (): Promise<unknown> =>
          mkdir(folder, { recursive: true }).then(() => writeFile(file, ''))
        if (isQuick) await change(() => remove().then(restore))
        else {
          await change(remove)
          await change(restore)
        }
        assert.deepEqual(await change(() => writeFile(file, '1')), [file])
      }
      await change(() => rename(folder, `${folder}.old`))
      await change(() => rename(`${folder}.old`, folder))
      assert.deepEqual(await change(() => writeFile(file, '2')), [file])
    })
  }

  it('watches the nearest parent of a file whose folder is missing', async (t) => {
    const other = await mkdtemp(join(tmpdir(), 'portico-'))
    t.after(() => rm(other, { recursive: true }))
    const { watch } = await watched(t)
    const file = join(other, 'db', 'a.js')
    assert.throws(() => watch.addFile(file), { code: 'ENOENT' })
    await watch.update()
    await mkdir(join(other, 'db'))
    await watch.changed()
    assert.deepEqual(watch.take(), [join(other, 'db')])
    await writeFile(file, '')
    await watch.changed()
    assert.deepEqual(watch.take(), [file])
  })

  it('rejects a folder that does not exist', async () => {
    await assert.rejects(FolderWatch.open('/no/such'), { code: 'ENOENT' })
  })
})

async function watched(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'))
  for (const name of ['module', 'node_modules', '.git']) await mkdir(join(folder, name))
  const watch = await FolderWatch.open(folder)
  t.after(async () => {
    watch.close()
    await rm(folder, { recursive: true })
  })
  return { folder, watch }
}
