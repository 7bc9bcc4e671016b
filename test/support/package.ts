import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryFile } from './repository.ts'

/** The output of `npm pack --json` about a package. */
export interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

// Without the variables of `npm test`: they would set the folder and the options of the npm of this test.
// npm runs with the Node of this test.
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
const env = { PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR }

/** Runs a command in a folder, and returns its output. */
export async function runCommand(
  folder: string,
  command: string,
  args: readonly string[],
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env }).catch((error) =>
    assert.fail(`${command} ${args.join(' ')}\n${error.stdout}${error.stderr}`),
  )
  return stdout
}

/** Packs this package into a folder. It does the same as prepack, but in a copy: prepack deletes dist, which tests need. */
export async function pack(folder: string): Promise<Packed> {
  const copy = join(folder, 'copy')
  await mkdir(copy)
  for (const name of ['package.json', 'README.md', 'LICENSE', 'dist']) {
    const isTest = (path: string): boolean => path.startsWith(repositoryFile('dist/test'))
    const options = { recursive: true, filter: (path: string) => !isTest(path) }
    await cp(repositoryFile(name), join(copy, name), options)
  }
  await runCommand(folder, process.execPath, [repositoryFile('tools/bundle.js'), copy])
  const args = ['pack', copy, '--ignore-scripts', '--json', '--pack-destination', folder]
  const [packed] = JSON.parse(await runCommand(folder, 'npm', args))
  return packed
}

/** Installs the archive of a package into a folder, without the network. */
export async function install(folder: string, archive: string): Promise<void> {
  const quiet = ['--omit=dev', '--offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await runCommand(folder, 'npm', ['install', archive, ...quiet])
}
