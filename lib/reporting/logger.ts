/** The interface of a log: pino, winston and `console` implement it. */
export interface Logger {
  /** Logs a response without an error, or an event of the process. The message is for humans. */
  info(fields: object, message: string): void
  /** Logs an error of the client (4xx), and the number of errors that were only counted. */
  warn(fields: object, message: string): void
  /** Logs an error of the server (5xx), with its stack. */
  error(fields: object, message: string): void
}
