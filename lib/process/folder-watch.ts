import { EventEmitter, once } from 'node:events'
import { type FSWatcher, watch } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'

// Time without a change before changes are reported: an editor saves in several steps, a checkout changes many
// files.
const QUIET_MS = 100
// Matches swap files, backups and locks of editors, and installed packages.
const IGNORED = /^[.#]|~$|^node_modules$/

/**
 * Watches a folder and all folders below it, except `node_modules`, dotfiles and temporary files of editors.
 *
 * Uses one `fs.watch` for each folder: a recursive one of Node 20 on Linux would also watch `node_modules`,
 * and would lose a file that is saved by renaming another.
 */
export class FolderWatch {
  readonly #root: string
  // By real path.
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #events = new EventEmitter()
  readonly #names = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isQuiet = true

  private constructor(root: string) {
    this.#root = root
  }

  /**
   * Opens a watch.
   *
   * @throws {Error} If the folder can't be read, with the error code of the system.
   */
  static async open(root: string): Promise<FolderWatch> {
    await readdir(root)
    const opened = new FolderWatch(root)
    await opened.#watchAll()
    return opened
  }

  /** Waits until files have changed since the last {@link FolderWatch.take} and changes have stopped. */
  async changed(): Promise<void> {
    while (this.#names.size === 0 || !this.#isQuiet) await once(this.#events, 'quiet')
  }

  /** Returns the changed files, relative to the folder, and forgets them. */
  take(): readonly string[] {
    const names = [...this.#names].sort()
    this.#names.clear()
    return names
  }

  /** Stops watching. */
  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  // Runs after every change: a folder may have been added or removed.
  async #watchAll(): Promise<void> {
    const folders = await foldersOf(this.#root)
    for (const [path, watcher] of this.#watchers) {
      if (folders.has(path)) continue
      watcher.close()
      this.#watchers.delete(path)
    }
    for (const [path, folder] of folders) {
      if (this.#watchers.has(path)) continue
      const watcher = watch(folder, (_, name) => this.#note(folder, name))
      // The folder was removed. The watcher of its parent reports that.
      watcher.on('error', () => watcher.close())
      this.#watchers.set(path, watcher)
    }
  }

  #note(folder: string, name: string | null): void {
    if (name !== null && IGNORED.test(name)) return
    this.#names.add(relative(this.#root, join(folder, name ?? '')) || '.')
    this.#isQuiet = false
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#settle(), QUIET_MS)
  }

  async #settle(): Promise<void> {
    // A checkout may remove the folder for a short time. When the folder is back, that is another change.
    await this.#watchAll().catch(() => {})
    this.#isQuiet = true
    this.#events.emit('quiet')
  }
}

// Returns a folder and all folders below it by real path: a link may lead back to a parent folder.
async function foldersOf(
  folder: string,
  found = new Map<string, string>(),
): Promise<ReadonlyMap<string, string>> {
  const path = await realpath(folder)
  if (found.has(path)) return found
  found.set(path, folder)
  for (const name of await readdir(folder)) {
    const child = join(folder, name)
    // stat() fails for a dangling link, or for a file that was removed in the meantime.
    const stats = IGNORED.test(name) ? undefined : await stat(child).catch(() => undefined)
    if (stats?.isDirectory()) await foldersOf(child, found)
  }
  return found
}
