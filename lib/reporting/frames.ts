import { isName } from './shape.ts'

// The folder of Portico's own files. A bundle of the application may have no such folder.
const OWN_FOLDER = /^.*\/lib\//.exec(import.meta.url)?.[0]

// The end of a frame: the name of a script, the line and the column.
const LOCATION = /[\\/]([\w.-]{1,64}\.[cm]?[jt]sx?)(?:\?[^\s)]*)?(:\d+:\d+)\)?$/

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
