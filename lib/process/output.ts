import { setTimeout as delay } from 'node:timers/promises'
import { Log } from '../reporting/log.ts'
import { printable } from '../scrubbing/printable.ts'
import type { Config } from './settings.ts'

/** Exit code for a failure, such as a port in use, an error of the explained request, or an action that was cut. */
export const EXIT_FAILURE = 1

const FLUSH_TIMEOUT_MS = 1_000

// The codes of a pipe whose reader has read enough, as in `--routes | head`: of the first write that fails, and of later ones.
const CLOSED: readonly unknown[] = ['EPIPE', 'ERR_STREAM_DESTROYED']

/** Writes text to stdout. If that fails, the exit code is at least 1. */
export function print(text: string): void {
  process.stdout.write(text, (error) => {
    const { code } = (error ?? {}) as NodeJS.ErrnoException
    if (!error || CLOSED.includes(code) || process.exitCode === EXIT_FAILURE) return
    process.exitCode = EXIT_FAILURE
    printProblems([`Can't write to stdout: ${code}`])
  })
}

/** Formats a value as indented JSON, with a line break at its end. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** Writes problems to stderr, one line each. */
export function printProblems(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`portico: ${printable(problem)}\n`)
}

/** Writes problems to stderr and ends the process. */
export function fail(exitCode: number, problems: readonly string[]): Promise<never> {
  printProblems(problems)
  return exit(exitCode)
}

/**
 * Ends the process as soon as stdout and stderr are flushed, at the latest after a second: their reader may
 * have stalled. Does not wait for anything else: a timer of a controller would keep the process alive.
 */
export async function exit(exitCode: number): Promise<never> {
  const flushed = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  )
  await Promise.race([Promise.all(flushed), delay(FLUSH_TIMEOUT_MS)])
  process.exit(exitCode || process.exitCode)
}

/** Creates a log on stdout: readable lines for a terminal, else NDJSON. */
export async function createLog({ logLevel }: Config): Promise<Log> {
  const stream = process.stdout
  // Writes queued lines one by one: a pipe may divide a larger write, and then has a line of another worker in between.
  Object.assign(stream, { _writev: null })
  const { prettyFormat } = stream.isTTY ? await import('./pretty-line.ts') : {}
  return new Log({ stream, level: logLevel, format: prettyFormat?.({ color: hasColors() }) })
}

/** Reports whether text on stdout may have colours (https://no-color.org). */
export function hasColors(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR
}
