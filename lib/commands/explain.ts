import { explain } from '../inspect/explain.ts'
import { loadApplication, publicFileOf } from '../process/application.ts'
import type { CommandLine } from '../process/command-line.ts'
import { EXIT_FAILURE, jsonText, print } from '../process/output.ts'
import { routesStyle } from './routes-style.ts'
import { explanationText } from './routes-text.ts'

/** Runs `--explain`: prints where a request would go. The exit code is 1 if it would lead to an error. */
export async function run({ json, ...line }: CommandLine): Promise<number> {
  const application = await loadApplication(line)
  const explanation = explain(application.front, line, publicFileOf(application, line))
  print(json ? jsonText(explanation) : explanationText(explanation, routesStyle()))
  return explanation.error === null ? 0 : EXIT_FAILURE
}
