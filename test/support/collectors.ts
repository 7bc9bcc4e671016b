import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import type { ErrorReport, Logger } from '../../lib/index.ts'

/** The names of the diagnostics channels, as an application subscribes to them. */
export const channelNames = {
  start: 'portico:dispatch:start',
  end: 'portico:dispatch:end',
  error: 'portico:dispatch:error',
  redispatch: 'portico:error:redispatch',
} as const

/** A message of a channel, under the short name of the channel. */
export type ChannelMessage = readonly [channel: string, message: Record<string, unknown>]

/** Collects the reports that a front controller passes to `onReport`. */
export function collectReports(): {
  readonly reports: readonly ErrorReport[]
  readonly onReport: (report: ErrorReport) => void
} {
  const reports: ErrorReport[] = []
  return { reports, onReport: (report) => void reports.push(report) }
}

/** A call of a logger. */
export interface LogEntry<Fields> {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Fields
  readonly message: string
}

/** Collects what is written to a logger. */
export function collectLog<Fields extends object = Record<string, unknown>>(): {
  readonly entries: readonly LogEntry<Fields>[]
  readonly logger: Logger
} {
  const entries: LogEntry<Fields>[] = []
  const write = (level: LogEntry<Fields>['level']) => (fields: object, message: string) =>
    void entries.push({ level, fields: fields as Fields, message })
  return {
    entries,
    logger: { info: write('info'), warn: write('warn'), error: write('error') },
  }
}

/** Collects the messages of all channels, in order, until the test ends. */
export function collectMessages(t: TestContext): readonly ChannelMessage[] {
  const messages: ChannelMessage[] = []
  for (const [key, name] of Object.entries(channelNames)) {
    const collect = (message: unknown): void =>
      void messages.push([key, message as Record<string, unknown>])
    subscribe(name, collect)
    t.after(() => unsubscribe(name, collect))
  }
  return messages
}
