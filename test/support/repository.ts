import { fileURLToPath } from 'node:url'

/** Returns the path of a file of the repository. Tests run in `dist/test/<room>`, so the root is three folders up. */
export function repositoryFile(name: string): string {
  return fileURLToPath(new URL(`../../../${name}`, import.meta.url))
}
