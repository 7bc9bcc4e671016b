import { BASE_PATH, DEFAULT_LIMITS, type Limits } from '../dispatch/options.ts'
import { isNetwork } from '../http/forwarded.ts'
import { DEFAULT_SERVER_LIMITS as DEFAULTS, type ServerLimits } from '../server/serve.ts'
import { type LogLevel, logLevels } from './log.ts'

/** What `node server.js` runs with: each setting of {@link settings}, checked. */
export interface Config extends Limits, ServerLimits {
  readonly port: number
  readonly host: string
  readonly controllers: string | undefined
  readonly names: 'exact' | 'zf1'
  readonly basePath: string
  readonly env: 'production' | 'development'
  readonly workers: number
  readonly trustProxy: readonly string[]
  readonly healthPort: number | undefined
  readonly drainDelayMs: number
  readonly closeTimeoutMs: number
  readonly logLevel: LogLevel
  readonly logParams: readonly string[]
  readonly accessLog: boolean
}

/** What a process exits with whose settings, or controllers, are wrong: it has said why. */
export const EXIT_CONFIG = 2

/** A setting, as the command line and the environment give it. */
export interface Setting<T> {
  readonly flag: string
  /** What else the environment may call it, beside `PORTICO_<FLAG>`. */
  readonly alias?: string
  readonly value: string
  readonly expected: string
  readonly help: string
  readonly fallback: T
  /** Reads its text; undefined where it is not what was expected. */
  readonly parse: (text: string) => T | undefined
}

/** Every setting; what it is called in {@link Config} is its name. */
export const settings: { readonly [Name in keyof Config]: Setting<Config[Name]> } = {
  port: {
    flag: 'port',
    alias: 'PORT',
    value: 'N',
    help: 'the port to listen on; 0 takes a free one',
    fallback: 3000,
    ...wholeNumber(0, 65_535),
  },
  host: {
    flag: 'host',
    alias: 'HOST',
    value: 'ADDRESS',
    help: 'the address to listen on',
    fallback: '127.0.0.1',
    ...matching(/^[^\s]+$/, 'an address or a host name'),
  },
  controllers: {
    flag: 'controllers',
    value: 'DIR',
    help: 'the folder of controllers: DIR/<name>.js, DIR/<module>/<name>.js',
    fallback: undefined,
    ...matching(/./, 'a folder'),
  },
  names: {
    flag: 'names',
    value: 'RULE',
    help: 'how names in a URL find controllers: exact, or folded as in Zend Framework 1 (zf1)',
    fallback: 'exact',
    ...oneOf('exact', 'zf1'),
  },
  basePath: {
    flag: 'base-path',
    value: 'PATH',
    help: 'what stands before the routed path, such as /app (default none)',
    fallback: '',
    ...matching(BASE_PATH, 'a path such as "/app", without a slash at its end'),
  },
  env: {
    flag: 'env',
    value: 'NAME',
    help: 'in development the error page tells what went wrong, and where',
    fallback: 'production',
    ...oneOf('production', 'development'),
  },
  workers: {
    flag: 'workers',
    value: 'N',
    help: 'processes that answer; 0 answers in the one that was started',
    fallback: 0,
    ...wholeNumber(0, 1_024),
  },
  trustProxy: {
    flag: 'trust-proxy',
    value: 'CIDRS',
    help: 'proxies whose X-Forwarded-* and Forwarded count, such as 10.0.0.0/8,::1 (default none)',
    fallback: [],
    ...list(isNetwork, 'addresses or networks with commas between, such as "10.0.0.0/8,::1"'),
  },
  healthPort: {
    flag: 'health-port',
    value: 'N',
    help: 'a port for /livez and /readyz (default none)',
    fallback: undefined,
    ...wholeNumber(0, 65_535),
  },
  drainDelayMs: milliseconds(
    'drain-delay',
    0,
    'answer on so long after SIGTERM, already not ready',
    0,
  ),
  closeTimeoutMs: milliseconds('close-timeout', 10_000, 'then wait so long for requests in flight'),
  maxBodyBytes: count('max-body-bytes', DEFAULT_LIMITS.maxBodyBytes, 'bytes of a body'),
  maxFields: count('max-fields', DEFAULT_LIMITS.maxFields, 'fields of a form, a query or a path'),
  maxTargetBytes: count('max-target-bytes', DEFAULT_LIMITS.maxTargetBytes, 'bytes of a target'),
  maxHeaderBytes: count('max-header-bytes', DEFAULTS.maxHeaderBytes, 'bytes of all header fields'),
  maxHeaderFields: count('max-header-fields', DEFAULTS.maxHeaderFields, 'header fields'),
  maxConnections: count('max-connections', DEFAULTS.maxConnections, 'connections at a time'),
  headersTimeoutMs: milliseconds('headers-timeout', DEFAULTS.headersTimeoutMs, 'for the headers'),
  requestTimeoutMs: milliseconds('request-timeout', DEFAULTS.requestTimeoutMs, 'for the request'),
  keepAliveTimeoutMs: milliseconds(
    'keep-alive-timeout',
    DEFAULTS.keepAliveTimeoutMs,
    'between two requests of a connection',
  ),
  socketTimeoutMs: milliseconds(
    'socket-timeout',
    DEFAULTS.socketTimeoutMs,
    'without a byte either way; more than the time for an action',
  ),
  actionTimeoutMs: milliseconds('action-timeout', DEFAULT_LIMITS.actionTimeoutMs, 'for an action'),
  logLevel: {
    flag: 'log-level',
    value: 'LEVEL',
    help: `the least that is logged: ${logLevels.join(', ')}`,
    fallback: 'info',
    ...oneOf(...logLevels),
  },
  logParams: {
    flag: 'log-params',
    value: 'NAMES',
    help: 'parameters whose values may be shown in reports, such as page,sort (default none)',
    fallback: [],
    ...list((name) => /^\S+$/.test(name), 'names with commas between, such as "page,sort"'),
  },
  accessLog: {
    flag: 'access-log',
    value: '',
    help: 'log a line for each request: method, names, status, duration, bytes',
    fallback: false,
    ...oneOf('true', 'false'),
    parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  },
}

interface Reader<T> {
  readonly expected: string
  readonly parse: (text: string) => T | undefined
}

function wholeNumber(least: number, most: number): Reader<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return number >= least && number <= most ? number : undefined
    },
  }
}

function count(flag: string, fallback: number, help: string): Setting<number> {
  const reader = wholeNumber(1, 2 ** 40)
  return { flag, value: 'N', help: `at most so many ${help}`, fallback, ...reader }
}

function milliseconds(flag: string, fallback: number, help: string, least = 1): Setting<number> {
  const reader = wholeNumber(least, 2 ** 31 - 1)
  return { flag: `${flag}-ms`, value: 'MS', help: `milliseconds: ${help}`, fallback, ...reader }
}

function matching(pattern: RegExp, expected: string): Reader<string> {
  return { expected, parse: (text) => (pattern.test(text) ? text : undefined) }
}

function oneOf<T extends string>(...choices: readonly T[]): Reader<T> {
  const quotedChoices = choices.map((choice) => `"${choice}"`)
  return {
    expected: `${quotedChoices.slice(0, -1).join(', ')} or ${quotedChoices.at(-1)}`,
    parse: (text) => choices.find((choice) => choice === text),
  }
}

function list(isItem: (item: string) => boolean, expected: string): Reader<readonly string[]> {
  return {
    expected,
    parse: (text) => {
      const items = text.split(',')
      return items.every(isItem) ? items : undefined
    },
  }
}
