import { EventEmitter, once } from 'node:events'
import { type FSWatcher, lstatSync, type Stats, statSync, watch } from 'node:fs'
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
  readonly #watchers = new Map<string, Folder & { readonly watcher: FSWatcher }>()
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
    for (const folder of folders) opened.addFile(folder)
    return opened
  }

  /**
   * Watches a file and the links in its path, except for those in a folder that is watched anyway.
   *
   * @throws {Error} If its folder can't be read, with the error code of the system and its `path`.
   */
  addFile(file: string): void {
    this.#addName(file)
    // A deployment may exchange a link above the file.
    for (let path = dirname(file); path !== dirname(path); path = dirname(path)) {
      if (lstatSync(path).isSymbolicLink()) this.#addName(path)
    }
  }

  #addName(file: string): void {
    const folder = dirname(file)
    const name = basename(file)
    const watched = this.#watchers.get(folder)
    if (watched?.root !== undefined) return
    const names = (this.#files.get(folder) ?? new Set()).add(name)
    this.#files.set(folder, names)
    // Watches the folder: an editor may save a file by renaming another.
    if (watched === undefined) {
      this.#watch(folder, { folder, identity: identityOf(statSync(folder)), names })
    } else watched.names?.add(name)
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
    this.#watchers.clear()
  }

  /** Watches the folders as they are now. While one is missing, its nearest parent is watched. */
  async update(): Promise<void> {
    await this.#watchAll().catch(() => {})
  }

  // Runs after every change: a folder may have been added or removed.
  async #watchAll(): Promise<void> {
    const folders = new Map<string, Folder>()
    for (const root of this.#folders) await addFolders(root, root, folders)
    for (const [folder, names] of this.#files) await addNearest(folder, names, folders)
    for (const [path, { watcher, identity }] of this.#watchers) {
      if (folders.get(path)?.identity === identity) continue
      watcher.close()
      this.#watchers.delete(path)
    }
    for (const [path, found] of folders) {
      const watched = this.#watchers.get(path)
      if (watched === undefined) this.#watch(path, found)
      else Object.assign(watched, found)
    }
  }

  #watch(path: string, found: Folder): void {
    const watcher = watch(found.folder, (_, name) => {
      const { folder, root, names } = watched
      if (names === undefined || names.has(name ?? '')) this.#note(folder, name, root)
      // The folder itself was removed or renamed.
      else if (name === basename(folder)) this.#note(folder, null)
    })
    const watched = { ...found, watcher }
    watcher.on('error', () => watcher.close())
    this.#watchers.set(path, watched)
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
    await this.update()
    this.#isQuiet = true
    this.#events.emit('quiet')
  }
}

interface Folder {
  readonly folder: string
  /** Differs if a folder was removed and created again: the old watcher then reports nothing. */
  readonly identity: string
  /** The folder of {@link FolderWatch.open} that has this one; undefined if only some names are watched. */
  readonly root?: string | undefined
  /** The names that are watched; undefined if all are. */
  readonly names?: Set<string> | undefined
}

// The number alone is not enough: a file system gives the number of a removed folder to the next one.
function identityOf({ ino, birthtimeMs }: Stats): string {
  return `${ino}:${birthtimeMs}`
}

// Returns undefined for a dangling link, or for a file that was removed in the meantime.
async function statOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined)
}

// Adds a folder and all folders below it by real path: a link may lead back to a parent folder.
async function addFolders(folder: string, root: string, to: Map<string, Folder>): Promise<void> {
  const stats = await statOf(folder)
  if (!stats?.isDirectory()) return
  const path = await realpath(folder)
  if (to.has(path)) return
  to.set(path, { folder, root, identity: identityOf(stats) })
  for (const name of await readdir(folder)) {
    if (!IGNORED.test(name)) await addFolders(join(folder, name), root, to)
  }
}

// Adds a folder for some names. While it is missing, only its nearest parent reports that it is back.
async function addNearest(
  folder: string,
  names: Set<string>,
  to: Map<string, Folder>,
): Promise<void> {
  const stats = await statOf(folder)
  if (stats === undefined) return addNearest(dirname(folder), new Set([basename(folder)]), to)
  const { root, names: others } = to.get(folder) ?? {}
  if (root !== undefined) return
  const both = others === undefined ? names : new Set([...names, ...others])
  to.set(folder, { folder, identity: identityOf(stats), names: both })
}
