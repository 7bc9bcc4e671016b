import { isName } from './shape.ts'

// The folder of Portico's own files. A bundle of the application may have no such folder.
const OWN_FOLDER = /^.*\/lib\//.exec(import.meta.url)?.[0]

// The end of a frame: the name of a script, the line and the column.
const LOCATION = /[\\/]([\w.-]{1,64}\.[cm]?[jt]sx?)(?:\?[^\s)]*)?(:\d+:\d+)\)?$/

// The script of a frame, and what stands before and after it.
const PARTS = /^(.*?\(|async |)((?:(?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])|node:)[^()]*)(:\d+:\d+\)?)$/

/** A frame such as `list (file:///srv/app/news.js:12:9)`, in three parts. */
export interface FrameParts {
  /** Such as `list (`. */
  readonly callee: string
  /** Such as `file:///srv/app/news.js`; '' if that is no path, or if a part of it may be a token. */
  readonly script: string
  /** Such as `:12:9)`. */
  readonly position: string
}

/** Returns the parts of a frame. Without a script, the callee is the whole frame. */
export function partsOf(frame: string): FrameParts {
  const [, callee = '', script = '', position = ''] = PARTS.exec(frame) ?? []
  const isPath =
    script !== '' && script.split(/[\s\\/:()?#@]+/).every((part) => part === '' || isName(part))
  return isPath ? { callee, script, position } : { callee: frame, script: '', position: '' }
}

/** Returns whether a frame is code of the application: not of Node, of a package or of Portico. */
export function isApplicationFrame(frame: string): boolean {
  const isForeign = /node:|[\\/]node_modules[\\/]/.test(frame)
  return !isForeign && (OWN_FOLDER === undefined || !frame.includes(OWN_FOLDER))
}

/** Returns file, line and column of a frame, such as `news.js:12:9`; '' if it names no script, or what may be a token. */
export function locationOf(frame: string): string {
  const [, file = '', position = ''] = LOCATION.exec(frame) ?? []
  return isName(file) ? file + position : ''
}
