/**
 * Checks that an optional package is installed.
 *
 * @throws {Error} With the command that installs the package.
 */
export function checkInstalled(name: string, neededBy: string): void {
  try {
    import.meta.resolve(name)
  } catch {
    // The message of Node names a file of this package, and no remedy.
    throw new Error(`${neededBy} needs the package "${name}": npm install ${name}`)
  }
}
