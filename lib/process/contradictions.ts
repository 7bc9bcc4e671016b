import { isLoopback } from '../http/loopback.ts'
import type { Logger } from '../reporting/log.ts'
import type { Config } from './settings.ts'

/**
 * Finds settings that are valid alone, but contradict each other. Returns one line for each problem.
 *
 * @param logger The log of the application file, to which `logLevel` does not apply.
 */
export function contradictions(config: Config, logger?: Logger): string[] {
  const { headersTimeoutMs, requestTimeoutMs, actionTimeoutMs, socketTimeoutMs } = config
  const { showValues, env, host, idHeader, accessLog, logLevel } = config
  const problems: string[] = []
  if (headersTimeoutMs > requestTimeoutMs) {
    problems.push(
      `--headers-timeout-ms is "${headersTimeoutMs}": expected at most --request-timeout-ms, "${requestTimeoutMs}"`,
    )
  }
  if (actionTimeoutMs >= socketTimeoutMs) {
    problems.push(
      `--action-timeout-ms is "${actionTimeoutMs}": expected less than --socket-timeout-ms, "${socketTimeoutMs}"`,
    )
  }
  if (showValues && env === 'production') {
    problems.push(`--show-values needs --env development, but --env is "${env}"`)
  }
  // Every id that a client is shown can be found in the log. An invalid value is undefined here.
  const isSilent = logger
    ? logger.isLevelEnabled?.('info') === false
    : logLevel !== undefined && logLevel !== 'info'
  if (idHeader !== undefined && (accessLog === false || isSilent)) {
    problems.push(
      '--id-header needs --access-log and --log-level info, or a logger that writes this level',
    )
  }
  // An invalid host is undefined here; its problem is listed already.
  if (showValues && host !== undefined && !isLoopback(host)) {
    problems.push(
      `--show-values needs a --host on this machine, such as "127.0.0.1", but --host is ${JSON.stringify(host)}`,
    )
  }
  return problems
}
