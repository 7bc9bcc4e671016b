import type { Health } from './health.ts'
import type { Config } from './settings.ts'

/** Loads what the health port needs, only for a program that has one. */
export async function loadHealth(config: Config): Promise<Health | undefined> {
  if (config.healthPort === undefined) return undefined
  const { Health } = await import('./health.ts')
  return new Health(config)
}
