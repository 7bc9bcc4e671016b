import { loadApplication } from '../process/application.ts'
import type { CommandLine } from '../process/command-line.ts'
import { jsonText, print } from '../process/output.ts'

/** Runs `--check`: loads everything, and prints the effective configuration. */
export async function run(line: CommandLine): Promise<number> {
  const { config } = await loadApplication(line)
  print(jsonText(config))
  return 0
}
