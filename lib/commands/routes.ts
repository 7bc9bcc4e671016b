import { listActions, listRoutes } from '../inspect/list-routes.ts'
import { loadApplication } from '../process/application.ts'
import type { CommandLine } from '../process/command-line.ts'
import { jsonText, print } from '../process/output.ts'
import { routesStyle } from './routes-style.ts'
import { publicText, routesText } from './routes-text.ts'

/** Runs `--routes`: prints the actions, the named routes, and the number of public files. */
export async function run({ json, ...line }: CommandLine): Promise<number> {
  const { front, config, files } = await loadApplication(line)
  const listing = { actions: listActions(front), routes: listRoutes(front) }
  print(json ? jsonText(listing) : routesText(listing, routesStyle()))
  if (!json && files !== undefined) print(publicText(config.public ?? '', files.size))
  return 0
}
