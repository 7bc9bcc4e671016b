import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { repositoryFile } from './repository.ts'

/** A test or a suite: registers what runs at its end. */
export interface Cleanup {
  after(cleanUp: () => void): void
}

/** The texts of files by their paths inside a folder. */
export type Files = Readonly<Record<string, string>>

/**
 * Creates a temporary folder with these files. The end of the test removes it.
 *
 * For a whole `describe`, pass its `after`: `createFolder({ after })`.
 */
export function createFolder(t: Cleanup, files: Files = {}): string {
  return createFolderIn(tmpdir(), t, files)
}

/**
 * Creates a temporary folder as `createFolder()` does, but beside the compiled tests: a program in it imports
 * the built package as `portico`.
 */
export function createFolderInPackage(t: Cleanup, files: Files = {}): string {
  return createFolderIn(repositoryFile('dist/test'), t, files)
}

/** Writes a file, and creates its folder if necessary. */
export function writeFileIn(folder: string, name: string, text: string): void {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function createFolderIn(parent: string, t: Cleanup, files: Files): string {
  // A watcher and a loader report real paths, and tmpdir() is a link on macOS.
  const folder = realpathSync(mkdtempSync(join(parent, 'portico-')))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileIn(folder, name, text)
  return folder
}
