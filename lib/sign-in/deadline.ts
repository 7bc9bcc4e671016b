import { MAX_TIMER_MS } from '../http/check-options.ts'

/** Runs a function with a signal that aborts after a time. */
export async function withDeadline<T>(
  ms: number,
  run: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), Math.min(ms, MAX_TIMER_MS))
  try {
    return await run(deadline.signal)
  } finally {
    clearTimeout(timer)
  }
}
