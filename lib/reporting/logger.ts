/**
 * Where log lines go: pino, winston and `console` are such loggers. The fields come first, then the
 * same in words.
 */
export interface Logger {
  /** Of no trouble: a request that was answered. */
  info(fields: object, message: string): void
  /** Of an error that is the client's doing (4xx), and of how many were only counted. */
  warn(fields: object, message: string): void
  /** Of a fault of the server (5xx), with its stack. */
  error(fields: object, message: string): void
}
