import { EventEmitter, once } from 'node:events'
import { type FSWatcher, watch } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'

// An editor saves in several steps, and a checkout changes many files.
const QUIET_MS = 100
// What a swap file, a backup or a lock of an editor is called, and what nobody writes by hand.
const IGNORED = /^[.#]|~$|^node_modules$/

/**
 * Watches a folder and all below it, but for `node_modules`, dotfiles and what editors leave behind.
 *
 * Folder by folder: the recursive `fs.watch` of Node 20 on Linux would watch `node_modules` too, and lose a
 * file that is saved by renaming another.
 */
export class FolderWatch {
  readonly #root: string
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #events = new EventEmitter()
  readonly #names = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isQuiet = true

  private constructor(root: string) {
    this.#root = root
  }

  /** @throws {Error} If the folder can't be read, with the code of the system. */
  static async open(root: string): Promise<FolderWatch> {
    await readdir(root)
    const opened = new FolderWatch(root)
    await opened.#watchAll()
    return opened
  }

  /** Waits until files have changed since the last {@link FolderWatch.take}, and no more do. */
  async changed(): Promise<void> {
    while (this.#names.size === 0 || !this.#isQuiet) await once(this.#events, 'quiet')
  }

  /** The files that have changed, relative to the folder; from here on they count as seen. */
  take(): readonly string[] {
    const names = [...this.#names].sort()
    this.#names.clear()
    return names
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  // Again with every change: a folder may have come, or gone.
  async #watchAll(): Promise<void> {
    const folders = await foldersOf(this.#root)
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const folder of folders) {
      if (!this.#watchers.has(folder)) this.#watch(folder)
    }
  }

  #watch(folder: string): void {
    const watcher = watch(folder, (_, name) => this.#note(folder, name))
    // A folder that was removed: the one above it tells.
    watcher.on('error', () => watcher.close())
    this.#watchers.set(folder, watcher)
  }

  #note(folder: string, name: string | null): void {
    if (name !== null && IGNORED.test(name)) return
    this.#names.add(relative(this.#root, join(folder, name ?? '')) || '.')
    this.#isQuiet = false
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#settle(), QUIET_MS)
  }

  async #settle(): Promise<void> {
    // Where that fails the folder is gone for a moment, as in a checkout: its return is a change too.
    await this.#watchAll().catch(() => {})
    this.#isQuiet = true
    this.#events.emit('quiet')
  }
}

// By their real paths as well: a link may lead in a circle.
async function foldersOf(
  folder: string,
  found = new Set<string>(),
  seen = new Set<string>(),
): Promise<ReadonlySet<string>> {
  const real = await realpath(folder)
  if (seen.has(real)) return found
  seen.add(real)
  found.add(folder)
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    // A dangling link, or a file that has gone again.
    const stats = IGNORED.test(name) ? undefined : await stat(path).catch(() => undefined)
    if (stats?.isDirectory()) await foldersOf(path, found, seen)
  }
  return found
}
