import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import type { ErrorReport, Logger } from '../../lib/index.ts'

/** The names of the diagnostics channels, as an application subscribes to them. */
export const channelNames = {
  start: 'tracing:portico.dispatch:start',
  end: 'tracing:portico.dispatch:end',
  asyncStart: 'tracing:portico.dispatch:asyncStart',
  asyncEnd: 'tracing:portico.dispatch:asyncEnd',
  error: 'tracing:portico.dispatch:error',
  report: 'portico.report',
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

/** Calls a function with each message of all channels, until the returned function is called. */
export function subscribeToAll(collect: (...message: ChannelMessage) => void): () => void {
  const ends = Object.entries(channelNames).map(([key, name]) => {
    const receive = (message: unknown): void => collect(key, message as Record<string, unknown>)
    subscribe(name, receive)
    return () => void unsubscribe(name, receive)
  })
  return () => {
    for (const end of ends) end()
  }
}

/** Collects the messages of all channels, in order and as they are when they are published, until the test ends. */
export function collectMessages(t: TestContext): readonly ChannelMessage[] {
  const messages: ChannelMessage[] = []
  t.after(subscribeToAll((key, message) => void messages.push([key, { ...message }])))
  return messages
}
