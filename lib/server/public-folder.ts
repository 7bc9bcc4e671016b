import { readdirSync, realpathSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'

/** The encodings of a precompressed file, by its further extension; the preferred one first. */
export const ENCODINGS = { '.br': 'br', '.gz': 'gzip' } as const

/** A file of a public folder. */
export interface PublicFile {
  /** The decoded path in URLs, below the base path. */
  readonly path: string
  readonly file: string
  readonly type: string
  /** The precompressed files beside it, by their encoding. */
  readonly variants: ReadonlyMap<string, string>
}

const TEXT = '; charset=utf-8'
const TYPES: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.bmp': 'image/bmp',
  '.css': `text/css${TEXT}`,
  '.csv': `text/csv${TEXT}`,
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': `text/html${TEXT}`,
  '.html': `text/html${TEXT}`,
  '.ico': 'image/x-icon',
  '.ics': `text/calendar${TEXT}`,
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': `text/javascript${TEXT}`,
  '.json': 'application/json',
  '.map': 'application/json',
  '.md': `text/markdown${TEXT}`,
  '.mjs': `text/javascript${TEXT}`,
  '.mov': 'video/quicktime',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.ogg': 'audio/ogg',
  '.otf': 'font/otf',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': `image/svg+xml${TEXT}`,
  '.ttf': 'font/ttf',
  '.txt': `text/plain${TEXT}`,
  '.vtt': `text/vtt${TEXT}`,
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xml': `application/xml${TEXT}`,
  '.zip': 'application/zip',
}

/**
 * Lists the files of a folder, by their decoded paths in URLs, which begin with the base path. Leaves out names that start with a dot, except
 * `.well-known`, and links that lead out of the folder.
 *
 * @throws {Error} If the folder cannot be read. The message is one line that names it.
 */
export function listPublicFolder(
  folder: string,
  basePath: string,
): ReadonlyMap<string, PublicFile> {
  const files = new Map<string, string>()
  try {
    const root = realpathSync(folder)
    collect(root, root, '', new Set(), files)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`The folder of public files "${folder}" can't be read: ${code}`)
  }
  const entries = [...files].map(([path, file]) => toPublicFile(path, file, files))
  return new Map(entries.map((entry) => [basePath + entry.path, entry]))
}

// Follows links, but enters no folder within itself: a link to a parent would never end.
function collect(
  root: string,
  folder: string,
  path: string,
  parents: ReadonlySet<string>,
  files: Map<string, string>,
): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('.') && !(name === '.well-known' && path === '')) continue
    const file = targetOf(root, join(folder, name))
    const stats = file === undefined ? undefined : statSync(file)
    if (file === undefined || stats === undefined || parents.has(file)) continue
    if (stats.isFile()) files.set(`${path}/${name}`, file)
    if (stats.isDirectory()) {
      collect(root, file, `${path}/${name}`, new Set([...parents, folder, file]), files)
    }
  }
}

// Returns the real path of a file; undefined if it is outside of the root, or is a link to nothing.
function targetOf(root: string, file: string): string | undefined {
  try {
    const target = realpathSync(file)
    const isInside = target.startsWith(root.endsWith(sep) ? root : root + sep)
    const isHidden = /(?:^|[\\/])\.(?!well-known(?:[\\/]|$))/.test(target.slice(root.length))
    return isInside && !isHidden ? target : undefined
  } catch {
    return undefined
  }
}

function toPublicFile(path: string, file: string, files: ReadonlyMap<string, string>): PublicFile {
  const type = TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream'
  const variants = new Map<string, string>()
  for (const [extension, encoding] of Object.entries(ENCODINGS)) {
    const variant = files.get(path + extension)
    if (variant !== undefined) variants.set(encoding, variant)
  }
  return { path, file, type, variants }
}
