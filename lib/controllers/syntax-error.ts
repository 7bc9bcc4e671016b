import fs from 'node:fs'
import { pathToFileURL } from 'node:url'

const IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.[^'"\n]*)['"]/g

/**
 * Returns the URL and the line of a syntax error in a module, or in one that it imports by a relative path, such as
 * `file:///news.js:2`.
 *
 * The SyntaxError of `import()` has neither (Node 20 to 26). Other errors have both in their stack.
 *
 * @returns undefined if the line is not certain.
 */
export async function locateSyntaxError(file: string, error: Error): Promise<string | undefined> {
  if (!(error instanceof SyntaxError)) return undefined
  const urls = new Set([pathToFileURL(file).href])
  // The loop also visits what it adds.
  for (const url of urls) {
    const source = await fs.promises.readFile(new URL(url), 'utf8').catch(() => '')
    const line = lineIn(source, error.message)
    if (line !== undefined) return `${url}:${line}`
    for (const [, specifier = ''] of source.matchAll(IMPORT)) urls.add(new URL(specifier, url).href)
  }
  return undefined
}

// Parses the text as a script, because the stack of its SyntaxError begins with the line. The line counts only if both errors
// have the same message: a script has other rules, such as no `await` at the top level.
function lineIn(source: string, message: string): string | undefined {
  const { Script } = process.getBuiltinModule('node:vm')
  try {
    new Script(`'use strict';${toScript(source)}`, { filename: 'script' })
  } catch (thrown) {
    const error = thrown as Error
    if (error.message === message) return /^script:(\d+)\n/.exec(error.stack ?? '')?.[1]
  }
  return undefined
}

// Removes `import` and `export`, and keeps every line in its place.
function toScript(source: string): string {
  const emptyLines = (statement: string): string => statement.replace(/.+/g, '')
  return source
    .replace(/^[ \t]*import\b(?!\s*[(.])[^'"]*(['"]).*?\1/gm, emptyLines)
    .replace(/^[ \t]*export\s*(?:\*[^'"]*|\{[^}]*\}\s*from\s*)(['"]).*?\1/gm, emptyLines)
    .replace(/^[ \t]*export\s*\{[^}]*\}/gm, emptyLines)
    .replace(/^([ \t]*)export\s+default\b/gm, '$1 0,')
    .replace(/^([ \t]*)export\s/gm, '$1 ')
    .replace(/\bimport\.meta\b/g, 'import_meta')
}
