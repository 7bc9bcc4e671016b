import { relative } from 'node:path'
import { hasColors } from '../process/output.ts'
import type { RoutesStyle } from './routes-text.ts'

/** Returns the style for routes on stdout. Paths below the current folder are relative to it. */
export function routesStyle(): RoutesStyle {
  return {
    color: hasColors(),
    formatFile: (file) => {
      const path = relative(process.cwd(), file)
      return path.startsWith('..') ? file : path
    },
  }
}
