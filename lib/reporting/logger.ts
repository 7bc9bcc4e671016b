/** The interface of a log: pino and `console` implement it. */
export interface Logger {
  /** Logs a response without an error, or an event of the process. The message is for humans. */
  info(fields: object, message: string): void
  /** Logs an error of the client (4xx), and the number of errors that were only counted. */
  warn(fields: object, message: string): void
  /** Logs an error of the server (5xx), with its stack. */
  error(fields: object, message: string): void
  /**
   * Reports whether lines of a level are written (default: all are). A response shows the id of its
   * error only if they are.
   */
  isLevelEnabled?(level: 'info' | 'warn' | 'error'): boolean
}
