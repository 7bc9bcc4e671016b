/** Where log lines go: pino, winston and `console` are such loggers. */
export interface Logger {
  /** Logs a response without an error, and what the process does; the message is for humans. */
  info(fields: object, message: string): void
  /** Logs an error of the client (4xx), and the number of errors that were only counted. */
  warn(fields: object, message: string): void
  /** Logs an error of the server (5xx), with its stack. */
  error(fields: object, message: string): void
}
