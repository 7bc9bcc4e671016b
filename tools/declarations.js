// Reduces the declaration files of the package to its public types.

import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

// Each statement that the compiler prints begins at the start of a line, and so does its docstring.
const START = /^(?=\/\*\*)|(?<!\*\/\n)^(?=(?:export|import|declare|type|interface)\b)/m
const DECLARATION =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|let|type) (\w+)/
const IMPORT = /^(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/
const EXPORT = /(?:^|(?<=\*\/))export (?=(?:declare|interface|type) )/m
// Types of objects that only Portico reads: to its callers, `readonly` says nothing.
const INPUT = /(?:Attributes|Destination|Init|Limits|Options|Overrides|Pattern|Plugin|UrlParams)$/
const COMMENT = /\/\*.*?\*\//gs
// The first group has a docstring. A declaration ends in a line break, but not its docstring.
const SHORTENED = new RegExp(
  `(${COMMENT.source})(?:\\n *)?|;$| (?=\\{$)|(?<=\\{)\\n *|\\n *(?=\\})|^ +| ?(?:[:,|&=?]|=>) `,
  'gms',
)

/**
 * Returns the texts of the declaration files that entry points need, by path. They contain the declarations that the public
 * types refer to; the rest of what a file exports is only for the other files of lib/. The files that the first entry point
 * needs become one, `types.d.ts` beside it: without the imports between them, they are 6 % shorter.
 */
export function publicDeclarations(entryPoints) {
  const [library, ...wings] = entryPoints
  const types = join(dirname(library), 'types.d.ts')
  const files = new Map()
  needAll(library)
  const common = new Set(files.keys())
  common.delete(library)
  for (const file of wings) needAll(file)

  const neededOf = (file) => files.get(file).filter(({ needed }) => needed.size > 0)
  const joined = [...common].flatMap(neededOf)
  const declared = joined.filter(({ from }) => from === undefined)
  checkNames(declared)
  const imports = importsOf(joined.filter(({ from }) => isPackage(from)))
  // A declaration file without re-exports exports all that it declares. `export` is a shorter word for `declare`.
  const implicit = declared.map((each) =>
    print(each)
      .replace(EXPORT, '')
      .replace(/(?:^|(?<=\*\/))declare /m, 'export '),
  )
  const texts = new Map([[types, [...imports, ...implicit].join('')]])
  for (const file of files.keys()) {
    if (common.has(file)) continue
    const links = neededOf(file).filter(({ from }) => from?.startsWith('.'))
    const others = neededOf(file).filter((each) => !links.includes(each))
    texts.set(file, [...linksOf(file, links), ...others.map(print)].join(''))
  }
  return texts

  function read(file) {
    if (!files.has(file)) files.set(file, readFileSync(file, 'utf8').split(START).map(parse))
    return files.get(file)
  }

  function needAll(file) {
    for (const { names } of read(file)) for (const name of names.keys()) need(file, name)
  }

  function need(file, name) {
    for (const { names, from, words, needed } of read(file)) {
      if (!names.has(name) || needed.has(name)) continue
      needed.add(name)
      for (const word of words) need(file, word)
      if (from?.startsWith('.')) need(targetOf(file, from), name)
    }
  }

  // Prints imports and re-exports, one for each file that has the declarations.
  function linksOf(file, links) {
    const lists = new Map()
    for (const { text, names, from, needed } of links) {
      const target = targetOf(file, from)
      const path = relative(dirname(file), common.has(target) ? types : target)
      const [, word, isType] = /^(import|export)( type)? /m.exec(text)
      for (const name of needed) {
        const type = isType || names.get(name).startsWith('type ') ? ' type' : ''
        const key = `${word}${type} from ${path.replace('.d.ts', '.js')}`
        lists.set(key, [...(lists.get(key) ?? []), name])
      }
    }
    return Array.from(lists, ([key, list]) => {
      const [word, path] = key.split(' from ')
      return `${word} {${list.join(',')}} from '${path.startsWith('.') ? path : `./${path}`}';\n`
    })
  }
}

function targetOf(file, from) {
  return join(dirname(file), from.replace(/\.[jt]s$/, '.d.ts'))
}

function isPackage(from) {
  return from !== undefined && !from.startsWith('.')
}

// Joins the imports from each package.
function importsOf(statements) {
  const packages = new Map()
  for (const { from, names, needed } of statements) {
    const list = packages.get(from) ?? new Set()
    packages.set(from, list)
    for (const name of needed) list.add(names.get(name).replace('type ', ''))
  }
  return Array.from(
    packages,
    ([from, list]) => `import type {${[...list].join(',')}} from '${from}';\n`,
  )
}

function checkNames(statements) {
  const names = statements.flatMap((each) => [...each.names.keys()])
  // The declarations of an overloaded function follow each other.
  const twice = names.filter((name, i) => names.indexOf(name) < i && names[i - 1] !== name)
  if (twice.length > 0) throw new Error(`Two files declare ${twice.join(', ')}`)
}

// Returns the names that a statement declares, imports or re-exports, each as written there, such as `type Route`.
function parse(text) {
  const code = text.replace(COMMENT, '').trimStart()
  const [, list, from] = IMPORT.exec(code) ?? []
  const written = list?.match(/(?:type )?\w+/g) ?? DECLARATION.exec(code)?.slice(1) ?? []
  const names = new Map(written.map((each) => [each.replace('type ', ''), each]))
  const words = from === undefined ? new Set(code.match(/\w+/g)) : []
  return { text, names, from, words, needed: new Set() }
}

// Without indentation, asterisks and links of docstrings, spaces and the period at their ends, empty lines before their tags, semicolons
// at the end of a line, line breaks inside of braces, spaces around signs, and `readonly` of options, the declarations are 16 % shorter.
function print({ text, names, from, needed }) {
  if (from === undefined) {
    const isInput = [...names.keys()].some((name) => INPUT.test(name))
    const code = isInput ? text.replace(/^( +)readonly (?=\w+\??:)/gm, '$1') : text
    return code.replace(SHORTENED, (found, comment) =>
      comment === undefined ? found.replace(/[ ;\n]/g, '') : shortDocstring(comment),
    )
  }
  const written = [...needed].map((name) => names.get(name))
  return text.replace(/\{[^}]*\}/, `{${written.join(',')}}`)
}

function shortDocstring(comment) {
  const lines = comment.slice(3, -2).split('\n')
  const text = lines.map((line) => line.replace(/^ +\* ?/, '')).join('\n')
  const linked = text.replace(/\{@link (.*?)\}/g, '$1').replaceAll('\n\n@', '\n@')
  return `/**${linked.trim().replace(/(?<!\.)\.$/, '')}*/`
}
