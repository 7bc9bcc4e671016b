import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { FrontController, type ServeOptions } from '../../lib/index.ts'
import { createFolderInPackage, type Files } from './folder.ts'
import { type Block, blocksOf } from './markdown.ts'
import { repositoryFile } from './repository.ts'
import { type Served, startServing } from './serving.ts'

/** The text of docs/recipes.md. */
export const page: string = readFileSync(repositoryFile('docs/recipes.md'), 'utf8')

/** The files of the page that are recipes, and not parts of one. */
export const recipes: readonly Block[] = blocksOf(page).filter(
  ({ language, name, section }) => language === 'js' && name.endsWith('.js') && section !== '',
)

/** Writes the files of the page to a folder. A program listens on a free port. */
export function writeRecipes(t: TestContext): string {
  const files: Files = Object.fromEntries(
    blocksOf(page).map(({ name, code }) => [name, onFreePort(code)]),
  )
  return createFolderInPackage(t, files)
}

/** Loads one file of the page. The test knows what it exports. */
export function importRecipe(t: TestContext, name: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(join(writeRecipes(t), name)).href)
}

/** Serves the options that a file of the page exports until the test ends. */
export async function serveRecipe(t: TestContext, name: string): Promise<Served> {
  const { default: options, before } = await importRecipe(t, name)
  return startServing(t, new FrontController(options as object), { before } as ServeOptions)
}

function onFreePort(code: string): string {
  return code.replace('port: 3000', 'port: 0')
}
