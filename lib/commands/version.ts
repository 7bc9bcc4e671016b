import { print } from '../process/output.ts'
import { version } from '../process/version.ts'

/** Runs `--version`. */
export function run(): void {
  print(`${version()}\n`)
}
