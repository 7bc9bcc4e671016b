import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { repositoryFile } from './repository.ts'

/** The source files of the package, such as `lib/http/request.ts`. */
export const sourceFiles: readonly string[] = [
  'server.ts',
  ...readdirSync(repositoryFile('lib'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `lib/${name}`),
].sort()

/** Returns the room of a file, such as `http`. A file outside of the rooms is its own room. */
export function roomOf(file: string): string {
  return /^lib\/([^/]+)\//.exec(file)?.[1] ?? file
}

/** Returns the files that a file imports, including types. */
export function importsOf(file: string): string[] {
  return specifiersOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(file), specifier))
}

/** Returns what a file imports or re-exports, as written. */
export function specifiersOf(file: string): string[] {
  const statements = codeOf(file).matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g)
  return Array.from(statements, ([, specifier = '']) => specifier)
}

/** Returns the text of a file without its comments. */
export function codeOf(file: string): string {
  return readFileSync(repositoryFile(file), 'utf8').replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, '')
}

/** Returns the number of lines of a file. */
export function lineCountOf(file: string): number {
  return readFileSync(repositoryFile(file), 'utf8').trimEnd().split('\n').length
}

/** Tells whether code defines or declares a function, a method, an accessor or a constructor with this name. */
export function defines(code: string, name: string): boolean {
  const text = escaped(name)
  const assigned = new RegExp(`^\\s*(?:export )?(?:const|let|(?:static )?readonly) ${text}\\b`, 'm')
  if (assigned.test(code) || new RegExp(`\\bfunction\\*? ${text}\\b`).test(code)) return true
  const modifiers = '(?:(?:static|async|override|get|set) )*\\*?'
  const methods = new RegExp(`^ +${modifiers}${text}(?:<.*?>)?\\(`, 'gm')
  // A call ends after its parentheses. A definition continues with a type or a body.
  return Array.from(code.matchAll(methods)).some(({ 0: head, index }) =>
    /^\s*[:{]/.test(code.slice(endOfParentheses(code, index + head.length))),
  )
}

/** Tells whether an interface of this code declares a method with this name. */
export function declaresInInterface(code: string, name: string): boolean {
  return Array.from(code.matchAll(/^(?:export )?interface [^{]*\{\n(.*?)^\}/gms)).some(([, body]) =>
    new RegExp(`^  ${escaped(name)}\\??\\(`, 'm').test(body ?? ''),
  )
}

/** Returns the index behind the parenthesis that closes the one before `start`. */
function endOfParentheses(code: string, start: number): number {
  let open = 1
  let i = start
  for (; open > 0 && i < code.length; i++) {
    if (code[i] === '(') open++
    if (code[i] === ')') open--
  }
  return i
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
