import { outsideRequests } from '../http/retention.ts'

// The newest undici needs a newer Node than Portico does.
const VERSIONS: Readonly<Record<string, string>> = { undici: 'undici@7' }

/**
 * Checks that optional packages are installed.
 *
 * @throws {Error} With the command that installs the missing ones.
 */
export function checkInstalled(names: readonly string[], neededBy: string): void {
  const missing = names.filter((name) => !isInstalled(name))
  if (missing.length === 0) return
  const list = missing.map((name) => `"${name}"`).join(', ')
  const command = `npm install ${missing.map((name) => VERSIONS[name] ?? name).join(' ')}`
  throw new Error(`${neededBy} needs ${list}: ${command}`)
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    // The message of Node names a file of this package, and no remedy.
    return false
  }
}

/**
 * Returns a function that calls `load` when it is first called, and again after a failure. Node 20 repeats the failure of an
 * `import()` that found no file descriptor: there, only a restart helps.
 */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= outsideRequests(() =>
      load().catch((error) => {
        loaded = undefined
        throw error
      }),
    )
    return loaded
  }
}
