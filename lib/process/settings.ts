import { DEFAULT_LIMITS, type Limits } from '../dispatch/options.ts'
import { BASE_PATH, MAX_TIMER_MS } from '../http/check-options.ts'
import { isNetwork } from '../http/forwarded.ts'
import { ID_HEADER } from '../http/response-headers.ts'
import { kebabCase } from '../http/route.ts'
import { type LogLevel, logLevels } from '../reporting/log.ts'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../server/serve.ts'
import {
  commaSeparated,
  matching,
  ofKind,
  oneOf,
  type TextParser,
  wholeNumber,
} from './text-parsers.ts'

/** The values of the {@link settings}. */
export interface Config extends Limits, ServerLimits {
  readonly port: number
  readonly host: string
  readonly app: string | undefined
  readonly controllers: string | undefined
  readonly public: string | undefined
  readonly publicCacheControl: string
  readonly names: 'exact' | 'zf1'
  readonly basePath: string
  readonly env: 'production' | 'development'
  readonly showValues: boolean
  readonly workers: number
  readonly trustProxy: readonly string[]
  readonly healthPort: number | undefined
  readonly healthHost: string | undefined
  readonly drainDelayMs: number
  readonly closeTimeoutMs: number
  readonly logLevel: LogLevel
  readonly logParams: readonly string[]
  readonly accessLog: boolean
  readonly idHeader: string | undefined
}

/** Exit code for invalid settings or controllers that do not load. */
export const EXIT_CONFIG = 2

/** The error for invalid settings. Each problem is one line that names the setting, its value and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** A setting of the command line and the environment. */
export interface Setting<T> extends TextParser<T> {
  readonly flag: string
  /** Another environment variable, which counts if `PORTICO_<FLAG>` is absent. */
  readonly alias?: string
  /** The name of its value in the help text; empty for a switch. */
  readonly value: string
  readonly help: string
  readonly fallback: T
}

type Settings = { readonly [Name in keyof Config]: Setting<Config[Name]> }
type Row<T> = Omit<Setting<T>, 'flag'>

const DEFAULTS = { ...DEFAULT_LIMITS, ...DEFAULT_SERVER_LIMITS }
type LimitName = keyof typeof DEFAULTS

// Every setting without its flag, which is its name in kebab case.
const rows: { readonly [Name in keyof Config]: Row<Config[Name]> } = {
  port: {
    alias: 'PORT',
    ...row('N', 'port to listen on; 0 picks a free port', 3000, wholeNumber(0, 65_535)),
  },
  host: { alias: 'HOST', ...address('127.0.0.1', 'address to listen on') },
  app: path('FILE', 'a file', 'ES module that exports the options of the application as default'),
  controllers: path(
    'DIR',
    'a folder',
    'folder of controllers: DIR/<name>.js, DIR/<module>/<name>.js',
  ),
  public: path('DIR', 'a folder', 'folder of public files, which are sent before an action runs'),
  publicCacheControl: row(
    'TEXT',
    'header Cache-Control of public files',
    'no-cache',
    matching(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'a header value such as "max-age=3600"'),
  ),
  names: row(
    'RULE',
    'how names match: exact, or zf1 as in Zend Framework 1',
    'exact',
    oneOf('exact', 'zf1'),
  ),
  basePath: row(
    'PATH',
    'path prefix that is not routed, such as /app (default none)',
    '',
    ofKind(BASE_PATH),
  ),
  env: row(
    'NAME',
    'development shows clients what failed, and where',
    'production',
    oneOf('production', 'development'),
  ),
  showValues: onOrOff('with --env development, on this machine: show values of parameters'),
  workers: row(
    'N',
    'number of worker processes; 0 serves in the main process',
    0,
    wholeNumber(0, 1_024),
  ),
  trustProxy: row(
    'CIDRS',
    'proxies whose X-Forwarded-* count: 10.0.0.0/8,::1 (default none)',
    [],
    commaSeparated(isNetwork, 'comma-separated addresses or networks, such as "10.0.0.0/8,::1"'),
  ),
  healthPort: row(
    'N',
    'port for /livez, /readyz and /metrics (default none)',
    undefined,
    wholeNumber(0, 65_535),
  ),
  healthHost: address(
    undefined,
    'its address; without it --host, and /metrics only for this machine',
  ),
  drainDelayMs: milliseconds(0, 'to keep serving after SIGTERM, while /readyz is 503', 0),
  closeTimeoutMs: milliseconds(10_000, 'to wait for requests in flight after that'),
  ...limits({
    maxBodyBytes: 'bytes of a body',
    maxFields: 'fields of a form, a query or a path',
    maxTargetBytes: 'bytes of a request target',
    maxHeaderBytes: 'bytes of all header fields',
    maxHeaderFields: 'header fields',
    maxConnections: 'connections',
    headersTimeoutMs: 'to receive the headers',
    requestTimeoutMs: 'to receive the whole request',
    keepAliveTimeoutMs: 'between two requests on a connection',
    socketTimeoutMs: 'without a byte; more than --action-timeout-ms',
    actionTimeoutMs: 'for an action',
  }),
  logLevel: row(
    'LEVEL',
    `minimum level to log: ${logLevels.join(', ')}`,
    'info',
    oneOf(...logLevels),
  ),
  logParams: row(
    'NAMES',
    'parameters whose values are logged, such as page,sort (default none)',
    [],
    commaSeparated((name) => /^\S+$/.test(name), 'comma-separated names, such as "page,sort"'),
  ),
  accessLog: onOrOff('log one line per request: method, names, status, duration, bytes'),
  idHeader: row(
    'NAME',
    'response header for the id, such as X-Request-Id; needs --access-log',
    undefined,
    ofKind(ID_HEADER),
  ),
}

/** Every setting, by its name in {@link Config}. */
export const settings: Settings = Object.fromEntries(
  Object.entries(rows).map(([name, row]) => [name, { flag: kebabCase(name), ...row }]),
) as unknown as Settings

function row<T>(value: string, help: string, fallback: T, parser: TextParser<T>): Row<T> {
  return { value, help, fallback, ...parser }
}

function address<T>(fallback: T, help: string): Row<string | T> {
  return row<string | T>('ADDRESS', help, fallback, matching(/^\S+$/, 'an address or a host name'))
}

function path(value: string, expected: string, help: string): Row<string | undefined> {
  return row<string | undefined>(value, help, undefined, matching(/./, expected))
}

function count(fallback: number, help: string): Row<number> {
  return row('N', `maximum ${help}`, fallback, wholeNumber(1, 2 ** 40))
}

function milliseconds(fallback: number, help: string, min = 1): Row<number> {
  return row('MS', help, fallback, wholeNumber(min, MAX_TIMER_MS))
}

// The rows of limits, whose defaults are those of the library.
function limits(helps: Readonly<Record<LimitName, string>>): Record<LimitName, Row<number>> {
  const entries = Object.entries(helps).map(([name, help]) => {
    const fallback = DEFAULTS[name as LimitName]
    return [name, name.endsWith('Ms') ? milliseconds(fallback, help) : count(fallback, help)]
  })
  return Object.fromEntries(entries)
}

// A switch: its flag has no value, and its variable is "true" or "false".
function onOrOff(help: string): Row<boolean> {
  const { expected, parse } = oneOf('true', 'false')
  return row('', help, false, {
    expected,
    parse: (text) => (parse(text) === undefined ? undefined : text === 'true'),
  })
}
