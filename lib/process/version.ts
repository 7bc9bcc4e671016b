import { readFileSync } from 'node:fs'

/** Returns the version of this package. The bundle contains it as a constant. */
export function version(): string {
  const file = readFileSync(new URL(import.meta.resolve('portico/package.json')), 'utf8')
  return JSON.parse(file).version
}
