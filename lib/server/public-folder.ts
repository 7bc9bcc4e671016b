import { readdirSync, realpathSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'

/** The encodings of a precompressed file, by its further extension; the preferred one first. */
const ENCODINGS = { '.br': 'br', '.gz': 'gzip' } as const

/** A file of a public folder. */
export interface PublicFile {
  /** The decoded path in URLs, below the base path. */
  readonly path: string
  readonly file: string
  readonly type: string
  /** The precompressed files beside it, by their encoding. */
  readonly variants: ReadonlyMap<string, string>
}

// The media types by extension, without the charset of a text: a group, and the extensions whose types have the same name or another.
const TYPES = new Map(
  [
    'application gz=gzip json map=json pdf wasm webmanifest=manifest+json xml zip',
    'audio mp3=mpeg ogg wav',
    'font otf ttf woff woff2',
    'image avif bmp gif ico=x-icon jpeg jpg=jpeg png svg=svg+xml webp',
    'text css csv htm=html html ics=calendar js=javascript md=markdown mjs=javascript txt=plain vtt',
    'video mov=quicktime mp4 webm',
  ].flatMap((line) => {
    const [group, ...names] = line.split(' ')
    return names.map((each): [extension: string, type: string] => {
      const [extension = '', name = extension] = each.split('=')
      return [extension, `${group}/${name}`]
    })
  }),
)
const IS_TEXT = /^text\/|xml$/

/**
 * Lists the files of a folder, by their decoded paths in URLs, which begin with the base path. Leaves out names that
 * start with a dot, except `.well-known`, and links that lead out of the folder.
 *
 * @throws {Error} If the folder cannot be read. The message is one line that names it.
 */
export function listPublicFolder(
  folder: string,
  basePath: string,
): ReadonlyMap<string, PublicFile> {
  const files = new Map<string, string>()
  try {
    const root = realpathSync.native(folder)
    gather(root, root, '', new Set(), files)
  } catch (error) {
    const { code, path = folder } = error as NodeJS.ErrnoException
    throw new Error(`The folder of public files "${path}" can't be read: ${code}`)
  }
  const entries = [...files].map(([path, file]) => toPublicFile(path, file, files))
  return new Map(entries.map((entry) => [basePath + entry.path, entry]))
}

// Follows links, but enters no folder within itself: a link to a parent would lead there again and again.
function gather(
  root: string,
  folder: string,
  path: string,
  parents: ReadonlySet<string>,
  files: Map<string, string>,
): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('.') && !(name === '.well-known' && path === '')) continue
    const file = fileIn(root, join(folder, name))
    if (file === undefined || parents.has(file)) continue
    const stats = statSync(file)
    if (stats.isFile()) files.set(`${path}/${name}`, file)
    if (stats.isDirectory()) {
      gather(root, file, `${path}/${name}`, new Set([...parents, folder, file]), files)
    }
  }
}

// Matches a path with a name that begins with a dot, except `.well-known` at its top.
const HIDDEN = /^[\\/]?\.(?!well-known(?:[\\/]|$))|[^\\/][\\/]\./

// Returns the real path of a file; undefined if it is outside of the root, or is a link to nothing.
function fileIn(root: string, file: string): string | undefined {
  try {
    const target = realpathSync.native(file)
    const isInside = target.startsWith(root.endsWith(sep) ? root : root + sep)
    return isInside && !HIDDEN.test(target.slice(root.length)) ? target : undefined
  } catch {
    // The link leads to nothing, or to itself.
    return undefined
  }
}

function toPublicFile(path: string, file: string, files: ReadonlyMap<string, string>): PublicFile {
  const type = TYPES.get(extname(path).slice(1).toLowerCase()) ?? 'application/octet-stream'
  const variants = new Map<string, string>()
  for (const [extension, encoding] of Object.entries(ENCODINGS)) {
    const variant = files.get(path + extension)
    if (variant !== undefined) variants.set(encoding, variant)
  }
  const charset = IS_TEXT.test(type) ? '; charset=utf-8' : ''
  return { path, file, type: type + charset, variants }
}
