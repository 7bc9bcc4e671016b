/**
 * Where log lines go: pino, winston and `console` are such loggers. The fields come first, then the
 * same in words.
 */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
