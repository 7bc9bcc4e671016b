import fs, { constants, type Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/** The state of a file at one time. */
export interface FileState {
  /** Differs if the file has changed, also for a new one with the size and the time of the old one. */
  readonly id: string
  readonly bytes: number
  readonly etag: string
  /** In milliseconds, without their fraction of a second: HTTP dates have none. */
  readonly modifiedMs: number
  /** The content of a small file. */
  readonly content?: Buffer | undefined
}

// Small files stay in memory, up to this sum.
const MAX_CACHED_FILE_BYTES = 65_536
const MAX_CACHE_BYTES = 33_554_432
// Maximum time before a change of a file is noticed.
const MAX_AGE_MS = 1_000
// Two changes of a file may have the same time: it has steps of 4 ms in Linux before 6.13, and of up to 2 s in some file systems.
const TIME_STEP_MS = 2_000
// A deployment may replace a file, by a rename, between the steps in which it is opened and checked.
const MAX_ATTEMPTS = 5
const REPLACED = missing('It was replaced')

/** Counts the bytes of the contents in memory. */
export interface CacheUse {
  bytes: number
}

/** A file that is open. The caller closes it. */
export interface OpenFile {
  readonly state: FileState
  readonly handle: FileHandle
}

/** A file that is read again when it changes. It is missing if its path is no longer the real one. */
export class StoredFile {
  readonly #file: string
  readonly #encoding: string
  readonly #cache: CacheUse
  #state: FileState | undefined
  #checkedId = ''
  #checkedAt = Number.NEGATIVE_INFINITY

  /** @param file The real path, without links. */
  constructor(file: string, encoding: string, cache: CacheUse) {
    this.#file = file
    this.#encoding = encoding
    this.#cache = cache
  }

  /** Returns the state of the file; a promise only if it must be checked for a change. */
  read(): FileState | Promise<FileState> {
    const isRecent = performance.now() - this.#checkedAt < MAX_AGE_MS
    return isRecent && this.#state !== undefined ? this.#state : this.#refresh()
  }

  /** Opens the file, for one that is not in memory. */
  open(): Promise<OpenFile> {
    return unlessReplaced(() => this.#open())
  }

  async #open(): Promise<OpenFile> {
    // Without O_NONBLOCK, open() of a FIFO waits for a writer, in one of the few threads for files, and keeps Node from ending.
    const handle = await fs.promises.open(this.#file, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return { state: await this.#describe(await handle.stat()), handle }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  async #refresh(): Promise<FileState> {
    const state = await unlessReplaced(async () =>
      this.#describe(await fs.promises.stat(this.#file)),
    )
    if (this.#state?.id !== state.id) await this.#load(state)
    this.#checkedAt = performance.now()
    return this.#state ?? state
  }

  async #load(state: FileState): Promise<void> {
    this.#cache.bytes -= this.#state?.content?.length ?? 0
    this.#state = state
    const isSmall = state.bytes <= MAX_CACHED_FILE_BYTES
    if (!isSmall || this.#cache.bytes + state.bytes > MAX_CACHE_BYTES) return
    // Before it is read: many files may be read at the same time.
    this.#cache.bytes += state.bytes
    let isKept = false
    try {
      const content = await this.#readContent()
      // The file may have changed meanwhile. It is then streamed until the next check.
      isKept = this.#state === state && content.length === state.bytes
      if (isKept) this.#state = { ...state, content }
    } finally {
      if (!isKept) this.#cache.bytes -= state.bytes
    }
  }

  async #readContent(): Promise<Buffer> {
    const { handle } = await this.open()
    try {
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  }

  // A link may have replaced the file, or a folder above it, since the start.
  async #checkPlace(id: string, { dev, ino }: Stats): Promise<void> {
    if (id === this.#checkedId) return
    if ((await fs.promises.realpath(this.#file)) !== this.#file) throw missing('Behind a link')
    const found = await fs.promises.lstat(this.#file)
    if (found.ino !== ino || found.dev !== dev) throw REPLACED
    this.#checkedId = id
  }

  async #describe(stats: Stats): Promise<FileState> {
    if (!stats.isFile()) throw missing('Not a file')
    const { dev, ino, ctimeMs, size, mtimeMs } = stats
    // A file that has just changed may be half written. Its id differs at each check, so that it is read again.
    const id = `${dev}:${ino}:${Math.min(Date.now(), ctimeMs + TIME_STEP_MS)}`
    await this.#checkPlace(id, stats)
    const suffix = this.#encoding === '' ? '' : `-${this.#encoding}`
    return {
      id,
      bytes: size,
      etag: `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}${suffix}"`,
      modifiedMs: Math.floor(mtimeMs / 1_000) * 1_000,
    }
  }
}

// Tries again while other files take the place of the one that is checked.
async function unlessReplaced<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = MAX_ATTEMPTS; ; ) {
    try {
      return await attempt()
    } catch (error) {
      if (--left === 0 || error !== REPLACED) throw error
    }
  }
}

// Returns an error with the code of a file that does not exist.
function missing(message: string): Error {
  return Object.assign(new Error(message), { code: 'ENOENT' })
}
