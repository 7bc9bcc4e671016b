import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FrameLocation, SourceLine } from '../controllers/development-details.ts'
import { isOfPortico } from '../reporting/frames.ts'

/** A frame in a file of the application. */
export interface LocatedFrame extends FrameLocation {
  /** The absolute path of the file. */
  readonly path: string
}

const FRAME = /^(?:(.*) \(|async )?((?:file:\/\/|\/|[A-Za-z]:[\\/]).*?):(\d+):(\d+)\)?$/
// The text of a stack is not reliable: an excerpt may only be of code.
const CODE = /\.[cm]?[jt]sx?$/
const LIBRARY = /[\\/]node_modules[\\/]/

const LINES_BEFORE = 5
const LINES_AFTER = 3
const MAX_LINE = 160
const MAX_FILE_BYTES = 1_048_576

/**
 * Returns the location of a frame in a file of the application; undefined if the frame is in Portico, in
 * Node or in a library.
 *
 * @param folders The absolute paths of the folders that contain the application.
 */
export function locateFrame(frame: string, folders: readonly string[]): LocatedFrame | undefined {
  const [, name = '', location = '', line, column] = FRAME.exec(frame) ?? []
  const path = pathOf(location)
  const folder = path && folderOf(path, folders)
  if (!path || !folder || isOfPortico(pathToFileURL(path).href)) return undefined
  const file = relative(folder, path)
  return { name: nameOf(name), path, file, line: Number(line), column: Number(column) }
}

// V8 writes the object before the function: Module.view, Object.<anonymous>.
function nameOf(name: string): string {
  return (
    name.replace(/\b(?:Module|Object)\./, '').replace('<anonymous>', '(anonymous)') || '(anonymous)'
  )
}

/** Returns the lines around a frame; none if the file is not code of the application, or cannot be read. */
export function readExcerpt(
  { path, line, column }: LocatedFrame,
  folders: readonly string[],
): readonly SourceLine[] {
  const lines = readCode(path, folders)
  if (lines?.[line - 1] === undefined) return []
  const first = Math.max(line - LINES_BEFORE, 1)
  const shown = lines.slice(first - 1, line + LINES_AFTER)
  const texts = shown.map((text, i) => cut(text, first + i === line ? column : 1))
  const indent = commonIndent(texts)
  return texts.map((text, i) => ({ line: first + i, text: text.slice(indent) }))
}

function pathOf(location: string): string | undefined {
  try {
    return location.startsWith('file:') ? fileURLToPath(new URL(location)) : location
  } catch {
    // Scrubbing may have changed the URL.
    return undefined
  }
}

function folderOf(path: string, folders: readonly string[]): string | undefined {
  if (!CODE.test(path) || LIBRARY.test(path)) return undefined
  return folders.find((folder) => {
    const inside = relative(folder, path)
    return inside !== '' && !isAbsolute(inside) && inside.split(sep)[0] !== '..'
  })
}

function readCode(file: string, folders: readonly string[]): readonly string[] | undefined {
  try {
    // A link may lead out of the application.
    const path = realpathSync(file)
    const stats = statSync(path)
    const isReadable = stats.isFile() && stats.size <= MAX_FILE_BYTES
    if (!isReadable || folderOf(path, folders) === undefined) return undefined
    return readFileSync(path, 'utf8').trimEnd().split(/\r?\n/)
  } catch {
    // The file was removed, or may not be read.
    return undefined
  }
}

// A line of a minified file is the whole file.
function cut(line: string, column: number): string {
  const start = column > MAX_LINE ? column - MAX_LINE / 2 : 0
  const text = line
    .slice(start, start + MAX_LINE)
    .replaceAll('\t', '  ')
    .toWellFormed()
  return `${start > 0 ? '...' : ''}${text}${line.length > start + MAX_LINE ? '...' : ''}`
}

function commonIndent(texts: readonly string[]): number {
  const indents = texts.filter((text) => text.trim() !== '').map((text) => text.search(/\S/))
  return indents.length === 0 ? 0 : Math.min(...indents)
}
