import { networks } from '../http/forwarded.ts'
import type { Logger } from '../reporting/log.ts'
import type { Access } from '../server/handler.ts'
import { DEFAULT_SERVER_LIMITS, type Service, serve } from '../server/serve.ts'
import { logAccess } from './access-log.ts'
import { type Application, limitsOf } from './application.ts'
import { EXIT_FAILURE, fail } from './output.ts'
import { ConfigError } from './settings.ts'
import { version } from './version.ts'
import { reportListening } from './watched.ts'

// The first file descriptor that systemd passes on (sd_listen_fds(3)).
const FIRST_FD = 3

type OnAccess = (access: Access) => void

/**
 * Listens on the configured port, or on the inherited socket; ends the process if that fails.
 *
 * @param observe Called for each request, before it is logged.
 */
export async function listen(
  { handler, app: { before }, config }: Application,
  logger: Logger,
  observe?: OnAccess,
): Promise<Service> {
  const { port, host, accessLog, closeTimeoutMs, idHeader } = config
  const trusted = config.trustProxy.length === 0 ? undefined : networks(config.trustProxy)
  const logEach = (access: Access): void => {
    observe?.(access)
    logAccess(logger, access, trusted)
  }
  const onAccess = accessLog ? logEach : observe
  const limits = limitsOf(DEFAULT_SERVER_LIMITS, config)
  const fd = inheritedSocket()
  const options = { port, host, fd, closeTimeoutMs, limits, onAccess, before, idHeader }
  return serve(handler, options).catch((error) => {
    if (fd === undefined) return failToListen(host, port, '--port', error)
    const problem = `Can't listen on the inherited socket (LISTEN_FDS), descriptor ${fd}`
    return fail(EXIT_FAILURE, [`${problem}: ${error.code}`])
  })
}

/** Ends the process that can't listen on a port. */
export function failToListen(
  host: string,
  port: number,
  flag: string,
  { code }: NodeJS.ErrnoException,
): Promise<never> {
  const hint = code === 'EADDRINUSE' ? `, another program listens there; see ${flag}` : ''
  return fail(EXIT_FAILURE, [`Can't listen on ${host}, port ${port}: ${code}${hint}`])
}

/**
 * Rejects a socket inherited by socket activation, for a flag that can't use it.
 *
 * @throws {ConfigError} If there is an inherited socket.
 */
export function rejectInheritedSocket(flag: string): void {
  if (inheritedSocket() === undefined) return
  throw new ConfigError([`${flag} cannot be used with an inherited socket (LISTEN_FDS)`])
}

// Socket activation: systemd, or a program with the same protocol, opens the socket and passes it on.
function inheritedSocket(): number | undefined {
  const { LISTEN_FDS, LISTEN_PID } = process.env
  if (LISTEN_PID !== String(process.pid) || !LISTEN_FDS || LISTEN_FDS === '0') return undefined
  if (LISTEN_FDS === '1') return FIRST_FD
  // Rejects several sockets: the clients of those that are not used would wait for ever.
  throw new ConfigError([`LISTEN_FDS is "${LISTEN_FDS}", not 1`])
}

/** Logs that the program listens, and reports it to a watcher. */
export function logStart(logger: Logger, url: string): void {
  const fields = { event: 'start', version: version(), url, pid: process.pid }
  logger.info(fields, `Portico ${fields.version} listens on ${url}`)
  // Does not use new URL(url): its port is empty for port 80, and it rejects the zone of an address (fe80::1%eth0).
  reportListening(Number(/\d+$/.exec(url)))
}
