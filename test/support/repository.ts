import { fileURLToPath } from 'node:url'

/** The path of a file of the repository: the tests run from dist/test, and read what stands beside dist. */
export function repositoryFile(name: string): string {
  return fileURLToPath(new URL(`../../../${name}`, import.meta.url))
}
