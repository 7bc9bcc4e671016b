import { EventEmitter, once } from 'node:events'
import { type FSWatcher, watch } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'

// Time without a change before changes are reported: an editor saves in several steps, a checkout changes many
// files.
const QUIET_MS = 100
// Matches swap files, backups and locks of editors, and installed packages.
const IGNORED = /^[.#]|~$|^node_modules$/

/**
 * Watches folders and all folders below them, except `node_modules`, dotfiles and temporary files of editors;
 * and single files.
 *
 * Uses one `fs.watch` for each folder: a recursive one of Node 20 on Linux would also watch `node_modules`,
 * and would lose a file that is saved by renaming another.
 */
export class FolderWatch {
  readonly #folders: readonly string[]
  // Single files by their folders.
  readonly #files = new Map<string, Set<string>>()
  readonly #fileWatchers: FSWatcher[] = []
  // By real path.
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>()
  readonly #events = new EventEmitter()
  readonly #names = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isQuiet = true

  private constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  /**
   * Opens a watch.
   *
   * @throws {Error} If a folder can't be read, with the error code of the system and its `path`.
   */
  static async open(...folders: readonly string[]): Promise<FolderWatch> {
    for (const folder of folders) await readdir(folder)
    const opened = new FolderWatch(folders)
    await opened.#watchAll()
    // While a folder is missing, only its parent reports that it is back.
    for (const folder of folders) opened.addFile(folder)
    return opened
  }

  /**
   * Watches a file, unless a folder that is watched has it.
   *
   * @throws {Error} If its folder can't be read, with the error code of the system and its `path`.
   */
  addFile(file: string): void {
    const folder = dirname(file)
    const name = basename(file)
    const names = this.#files.get(folder)
    if (names !== undefined) names.add(name)
    else if (!this.#watchers.has(folder)) {
      // Watches the folder: an editor may save a file by renaming another.
      const watcher = watch(folder, (_, changed) => {
        if (changed !== null && this.#files.get(folder)?.has(changed)) this.#note(folder, changed)
      })
      watcher.on('error', () => watcher.close())
      this.#fileWatchers.push(watcher)
      this.#files.set(folder, new Set([name]))
    }
  }

  /** Waits until files have changed since the last {@link FolderWatch.take} and changes have stopped. */
  async changed(): Promise<void> {
    while (this.#names.size === 0 || !this.#isQuiet) await once(this.#events, 'quiet')
  }

  /** Returns the changed files, relative to the folder that has them, and forgets them. A single file has its whole path. */
  take(): readonly string[] {
    const names = [...this.#names].sort()
    this.#names.clear()
    return names
  }

  /** Stops watching. */
  close(): void {
    clearTimeout(this.#timer)
    for (const { watcher } of this.#watchers.values()) watcher.close()
    for (const watcher of this.#fileWatchers) watcher.close()
    this.#watchers.clear()
  }

  // Runs after every change: a folder may have been added or removed.
  async #watchAll(): Promise<void> {
    const folders = new Map<string, Folder & { readonly root: string }>()
    for (const root of this.#folders) {
      for (const [path, found] of await foldersOf(root)) folders.set(path, { ...found, root })
    }
    for (const [path, { watcher, identity }] of this.#watchers) {
      if (folders.get(path)?.identity === identity) continue
      watcher.close()
      this.#watchers.delete(path)
    }
    for (const [path, { folder, root, identity }] of folders) {
      if (this.#watchers.has(path)) continue
      const watcher = watch(folder, (_, name) => this.#note(folder, name, root))
      // The folder was removed. The watcher of its parent reports that.
      watcher.on('error', () => watcher.close())
      this.#watchers.set(path, { watcher, identity })
    }
  }

  #note(folder: string, name: string | null, root?: string): void {
    if (name !== null && IGNORED.test(name)) return
    const path = join(folder, name ?? '')
    this.#names.add(root === undefined ? path : relative(root, path) || '.')
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

interface Folder {
  readonly folder: string
  /** Differs if a folder was removed and created again: the old watcher then reports nothing. */
  readonly identity: string
}

// Returns a folder and all folders below it by real path: a link may lead back to a parent folder.
async function foldersOf(
  folder: string,
  found = new Map<string, Folder>(),
): Promise<ReadonlyMap<string, Folder>> {
  const path = await realpath(folder)
  if (found.has(path)) return found
  const { ino, birthtimeMs } = await stat(folder)
  // A file system gives the number of a removed folder to the next one.
  found.set(path, { folder, identity: `${ino}:${birthtimeMs}` })
  for (const name of await readdir(folder)) {
    const child = join(folder, name)
    // stat() fails for a dangling link, or for a file that was removed in the meantime.
    const stats = IGNORED.test(name) ? undefined : await stat(child).catch(() => undefined)
    if (stats?.isDirectory()) await foldersOf(child, found)
  }
  return found
}
