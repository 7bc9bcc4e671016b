const EXPORT = '^[ \\t]*export\\s+'
const DEFINITION = '(?:async\\s+)?(?:function[\\s*]+|(?:const|let|var)\\s+)'

/**
 * Returns the line of a module's text that defines an export; the first line is 1.
 *
 * Finds `export function list`, `export const list =`, `export const { list } =`, `export default`,
 * `export { local as list }`, `exports.list =`, and a member of the object in `export default {` or
 * `module.exports = {`. For a local name, it returns the line that defines it, or else that of the export.
 *
 * @returns null if the text has none of these. An example is `export * from './base.js'`.
 */
export function lineOfExport(source: string, name: string): number | null {
  // A comment may hold an old version of the function.
  const code = source.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/.+/g, ''))
  const exported = wordPattern(name)
  const exportList = new RegExp(
    `^[ \\t]*export\\s*\\{[^}]*?(?:([\\w$]+)\\s+as\\s+)?${exported}(?=\\s*[,}])`,
    'm',
  )
  const list = exportList.exec(code)
  const patterns = [
    `${EXPORT}${DEFINITION}${exported}`,
    `${EXPORT}(?:const|let|var)\\s*[{[][^=]*?${exported}`,
  ]
  if (name === 'default') patterns.push(`${EXPORT}default\\b`)
  if (list !== null) {
    const local = wordPattern(list[1] ?? name)
    // Only at the start of a line: an indented definition belongs to another function.
    patterns.push(`^${DEFINITION}${local}`, exportList.source)
  }
  patterns.push(`^[ \\t]*(?:module\\.)?exports\\.${exported}(?=\\s*=)`)
  const [member, isShorthand] = memberOf(code, exported)
  if (isShorthand) patterns.push(`^${DEFINITION}${exported}`)
  if (member !== undefined) patterns.push(member)
  for (const pattern of patterns) {
    const match = new RegExp(pattern, 'm').exec(code)
    // The match ends with the name, which may be lines below its beginning.
    if (match !== null) return code.slice(0, match.index + match[0].length).split('\n').length
  }
  return null
}

// Returns a pattern that finds a member of the exported object, and whether its value is a local name.
function memberOf(
  code: string,
  member: string,
): [pattern: string | undefined, isShorthand: boolean] {
  const start = '^[ \\t]*(?:export\\s+default|module\\.exports\\s*=)\\s*(?:\\w+\\()?\\{'
  const pattern = `(?<=${start}(?:[\\s\\S]*[\\n,])?\\s*(?:async\\s+)?(?:\\*\\s*)?)${member}(?=\\s*([(:,}]))`
  const after = new RegExp(pattern, 'm').exec(code)?.[1]
  return [after && pattern, after === ',' || after === '}']
}

function wordPattern(name: string): string {
  const escaped = name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
  return `(?<![\\w$])${escaped}(?![\\w$])`
}
