import type { CommandLine } from '../process/command-line.ts'
import { probeHealth } from '../process/health.ts'
import { EXIT_FAILURE } from '../process/output.ts'

/** Runs `--healthcheck`: the exit code is 0 if the server is ready. */
export async function run({ config: { healthPort = 0, host } }: CommandLine): Promise<number> {
  return (await probeHealth(healthPort, host)) ? 0 : EXIT_FAILURE
}
