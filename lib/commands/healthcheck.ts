import type { CommandLine } from '../process/command-line.ts'
import { probeHealth } from '../process/health.ts'
import { EXIT_FAILURE, printProblems } from '../process/output.ts'

/** Runs `--healthcheck`: the exit code is 0 if the server is ready. */
export async function run({ config }: CommandLine): Promise<number> {
  const { healthPort = 0, healthHost, host } = config
  const problem = await probeHealth(healthPort, healthHost ?? host)
  if (problem === undefined) return 0
  printProblems([`Not ready: ${problem}`])
  return EXIT_FAILURE
}
