import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopTimeoutMs } from '../process/child.ts'
import type { CommandLine } from '../process/command-line.ts'
import { rejectInheritedSocket } from '../process/listen.ts'
import { createLog } from '../process/output.ts'
import { onHangup, onStopSignal } from '../process/signals.ts'
import { Watcher } from './watcher.ts'

/**
 * Runs `--watch`: runs the program again without this flag, and restarts it when a file of the application changes.
 *
 * @param program The URL of the program.
 */
export async function run({ config }: CommandLine, program: string): Promise<number> {
  rejectInheritedSocket('--watch')
  const log = await createLog(config)
  const args = process.argv.slice(2).filter((arg) => !/^--watch(?:=|$)/.test(arg))
  const { controllers, public: publicFolder, app } = config
  const paths = (...given: readonly (string | undefined)[]): readonly string[] =>
    given.flatMap((path) => (path ? resolve(path) : []))
  const watcher = new Watcher({
    folders: paths(controllers, publicFolder),
    files: paths(app),
    program: fileURLToPath(program),
    args: [...args, `--env=${config.env}`],
    hasWorkers: config.workers > 0,
    logger: log,
    stopTimeoutMs: stopTimeoutMs(config),
  })
  const stop = (): void => watcher.stop()
  onStopSignal(stop, () => watcher.kill())
  onHangup(log, stop)
  return watcher.run()
}
