// Texts of the operator's page for numbers and times.

import { BUCKETS, quantile } from './histogram.ts'

// Not toLocaleString(), which creates a format for each of some thousand numbers: most of the time of a page.
const TENTHS = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const MEBIBYTE = 1_048_576

/** Returns a number with separators: `12,345`; with at most one digit after the point below 100. */
export function numberText(value: number): string {
  // Most are small and whole: a format takes half a microsecond.
  if (Number.isInteger(value) && value < 1_000) return String(value)
  return (value < 100 ? TENTHS : WHOLE).format(value)
}

/** Returns seconds in a unit that fits: `0.4 ms`, `12 ms`, `1.2 s`; `–` without a value. */
export function secondsText(seconds: number | undefined): string {
  if (seconds === undefined) return '–'
  return seconds < 1 ? `${numberText(roundTo(seconds * 1_000, 2))} ms` : `${numberText(seconds)} s`
}

/** Returns a quantile of durations: `12 ms`; `≤ 1 ms` in the first bucket, `≥ 10 s` in the last one, `–` without any. */
export function latencyText(buckets: readonly number[], q: number): string {
  const seconds = quantile(buckets, q)
  const [lowest = 0] = BUCKETS
  const highest = BUCKETS.at(-1) ?? 0
  if (seconds === undefined) return secondsText(seconds)
  if (seconds <= lowest) return `≤ ${secondsText(lowest)}`
  return seconds >= highest ? `≥ ${secondsText(highest)}` : secondsText(seconds)
}

/** Returns bytes in a unit that fits: `812 B`, `48 KiB`, `1.4 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${numberText(bytes)} B`
  if (bytes < MEBIBYTE) return `${numberText(bytes / 1_024)} KiB`
  return bytes < 1_024 * MEBIBYTE
    ? `${numberText(bytes / MEBIBYTE)} MiB`
    : `${numberText(bytes / 1_024 / MEBIBYTE)} GiB`
}

/** Returns a part of a whole in percent: `0 %`, `0.3 %`, `12 %`. */
export function percentText(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (100 * part) / whole
  if (percent > 0 && percent < 0.1) return '<0.1 %'
  return `${numberText(percent < 10 ? roundTo(percent, 2) : Math.round(percent))} %`
}

/** Returns a span of time in its two largest units: `3 d 4 h`, `12 min 5 s`. */
export function spanText(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [DAY_MS, 'd'],
    [HOUR_MS, 'h'],
    [MINUTE_MS, 'min'],
    [SECOND_MS, 's'],
  ]
  const parts: string[] = []
  let left = Math.max(0, ms)
  for (const [unit, name] of units) {
    const count = Math.floor(left / unit)
    left -= count * unit
    if (count > 0 && parts.length < 2) parts.push(`${count} ${name}`)
    else if (parts.length > 0) break
  }
  return parts.join(' ') || '0 s'
}

/** Returns how long ago a time was, in its largest unit: `5 min ago`. */
export function agoText(at: number, now: number): string {
  const [count, unit] = spanText(now - at).split(' ')
  return count === '0' ? 'now' : `${count} ${unit} ago`
}

function roundTo(value: number, digits: number): number {
  return Number(value.toPrecision(digits))
}
