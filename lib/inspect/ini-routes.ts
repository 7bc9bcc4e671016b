import type { RoutePattern } from '../routing/route-pattern.ts'
import { checkedRoutes } from '../routing/route-table.ts'

/** A value of an INI file, with the line that sets it, or the values below a key. */
type Node = { text: string; line: number } | Tree
type Tree = Map<string, Node>
type Entry = readonly [path: readonly string[], text: string, line: number]
type Problem = [line: number, problem: string]
type Pattern = { -readonly [Member in keyof RoutePattern]: unknown }

const PREFIXES = ['resources.router.routes.', 'routes.']
const CLASS = /^(?:Zend_Controller_Router_)?(?=Route)|^(?=Zend_Rest_Route)/
const MAX_PARTS = 100
const BOOLEANS = new Map(
  Object.entries({ true: '1', on: '1', yes: '1', false: '', off: '', no: '', none: '', null: '' }),
)

/**
 * Translates the routes of a section of an `application.ini` or `routes.ini` of ZF1 (default: `production`, else the first
 * one). A problem has the number of its line.
 *
 * @throws {RangeError} If there is no such section.
 */
export function translateIni(
  text: string,
  section?: string,
): { routes: Record<string, RoutePattern>; problems: Problem[] } {
  const ini = new Ini(text)
  const { routes } = new Translation(ini.routesOf(section), ini.problems)
  return { routes: { ...routes }, problems: ini.problems.sort(([a], [b]) => a - b) }
}

// The syntax of Zend_Config_Ini: sections that extend others, and keys with dots.
class Ini {
  readonly problems: Problem[] = []
  readonly #sections = new Map<string, { parent: string; entries: Entry[] }>()

  constructor(text: string) {
    let entries: Entry[] = []
    this.#sections.set('', { parent: '', entries })
    for (const [i, raw] of text.replaceAll('\0', '').split(/\r?\n/).entries()) {
      const line = raw.trim()
      const [, name, parent = ''] = /^\[([^\]:]*)(?::([^\]]*))?\]/.exec(line) ?? []
      if (name !== undefined) {
        entries = []
        this.#sections.set(name.trim(), { parent: parent.trim(), entries })
        continue
      }
      // Splits by hand: an expression would take quadratic time for spaces.
      const mark = line.indexOf('=')
      const key = line.slice(0, mark).trimEnd()
      const prefix = PREFIXES.find((each) => key.startsWith(each))
      if (mark < 0 || !(prefix || key.startsWith('resources.router.'))) continue
      const value = plainValue(line.slice(mark + 1).trimStart())
      const path = key.split('.')
      if (!prefix || path.length > MAX_PARTS || path.includes('__proto__'))
        this.problems.push([i + 1, 'the key is not translated'])
      else if (value === undefined)
        this.problems.push([i + 1, `${key}: the value is not plain text`])
      else entries.push([key.slice(prefix.length).split('.'), value, i + 1])
    }
  }

  routesOf(section = this.#default): Tree {
    const tree: Tree = new Map()
    for (const [path, text, line] of this.#entriesOf(section)) {
      let at = tree
      for (const name of path.slice(0, -1)) {
        const next = at.get(name)
        if (!(next instanceof Map)) at.set(name, new Map())
        at = at.get(name) as Tree
      }
      at.set(path.at(-1) ?? '', { text, line })
    }
    return tree
  }

  get #default(): string {
    const names = [...this.#sections.keys()]
    return names.includes('production') ? 'production' : (names[1] ?? '')
  }

  // Returns the entries of a section, after those of the sections that it extends.
  #entriesOf(section: string): Entry[] {
    const lists = new Map<string, Entry[]>()
    for (let name = section; ; ) {
      const found = this.#sections.get(name)
      if (found === undefined || lists.has(name)) {
        throw new RangeError(`There is no section ${JSON.stringify(name)}`)
      }
      lists.set(name, found.entries)
      if (name === '') return [...lists.values()].reverse().flat()
      name = found.parent
    }
  }
}

// Returns a value as PHP reads it; undefined if it has constants, variables, operators or several parts.
function plainValue(rest: string): string | undefined {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:;.*)?$/s.exec(rest) ?? []
  if (double?.includes('${')) return undefined
  const quoted = double?.replace(/\\(["\\])/g, '$1') ?? single
  if (quoted !== undefined) return quoted
  const plain = rest.split(';', 1)[0]?.trimEnd() ?? ''
  if (/["'${}|&~!^()=]/.test(plain) || /^[A-Z]+_[A-Z_]+$/.test(plain)) return undefined
  return BOOLEANS.get(plain.toLowerCase()) ?? plain
}

// Translates routes, with their chains, and collects problems.
class Translation {
  readonly routes: Record<string, RoutePattern> = Object.create(null)
  readonly #problems: Problem[]

  constructor(tree: Tree, problems: Problem[]) {
    this.#problems = problems
    for (const [name, node] of tree) if (node instanceof Map) this.#add(name, node)
  }

  #add(name: string, node: Tree, under?: string): void {
    const pattern = this.#patternOf(name, node)
    if (pattern === undefined) return
    if (under !== undefined) pattern.under = under
    const chains = node.get('chains')
    // As in ZF1, a route with chains matches only as a part of them.
    if (chains instanceof Map) pattern.abstract = true
    // An object lists such names first, and the order of routes matters.
    if (/^(0|[1-9]\d*)$/.test(name)) this.#report(name, node, 'is put first: its name is a number')
    if (this.#check(name, node, pattern)) this.routes[name] = pattern as RoutePattern
    for (const [child, below] of chains instanceof Map ? chains : []) {
      if (below instanceof Map) this.#add(`${name}-${child}`, below, name)
      else this.#addExisting(`${name}-${below.text}`, below.text, name, below.line)
    }
  }

  #addExisting(name: string, existing: string, under: string, line: number): void {
    const pattern = this.routes[existing]
    if (pattern === undefined) this.#problems.push([line, `there is no route "${existing}" before`])
    else this.routes[name] = { ...pattern, under, abstract: false }
  }

  #patternOf(name: string, node: Tree): Pattern | undefined {
    const kind = textOf(node, 'type')?.replace(CLASS, '') ?? 'Route'
    const route = textOf(node, 'route')
    const defaults = this.#texts(node, 'defaults')
    const reqs = Object.entries(this.#texts(node, 'reqs') ?? {})
    const requirements = Object.fromEntries(reqs.map(([key, text]) => [key, ignoringCase(text)]))
    const common = {
      ...(defaults && { defaults }),
      ...(reqs.length > 0 && { requirements }),
      ...(textOf(node, 'abstract') && { abstract: true }),
    }
    const known = ['type', 'route', 'defaults', 'reqs', 'abstract', 'chains']
    switch (kind) {
      case 'Route':
      case 'Route_Static':
        this.#reportOthers(name, node, known)
        if (/(?:^|\/):?@/.test(route ?? ''))
          return this.#report(name, node, 'is left out: it has a translated segment')
        return { path: route ?? '', ...common }
      case 'Route_Regex': {
        this.#reportOthers(name, node, [...known, 'map', 'reverse'])
        const map = this.#texts(node, 'map')
        const reverse = textOf(node, 'reverse')
        return { regex: route, ...(map && { map }), ...(reverse && { reverse }), ...common }
      }
      case 'Route_Hostname': {
        this.#reportOthers(name, node, [...known, 'scheme'])
        const scheme = textOf(node, 'scheme')
        return { host: route, ...(node.has('scheme') && { scheme }), ...common }
      }
      case 'Zend_Rest_Route': {
        const modules = [...node.keys()].filter((key) => key !== 'type' && key !== 'defaults')
        const rest = modules.map((key) => [key, textOf(node, key)?.split(',')])
        return {
          rest: rest.length > 0 ? Object.fromEntries(rest) : true,
          ...(defaults && { defaults }),
        }
      }
      case 'Route_Chain':
        this.#addChain(name, node)
        return undefined
      default:
        return this.#report(name, node, `has the type ${kind}, which Portico does not have`)
    }
  }

  // chain = "one, two": the last route, under the others.
  #addChain(name: string, node: Tree): void {
    const names = textOf(node, 'chain') ?? ''
    const [first = '', ...others] = names.split(',').map((each) => each.trim())
    let under = first
    for (const [i, each] of others.entries()) {
      const isLast = i === others.length - 1
      const own = isLast ? name : `${name}-${each}`
      this.#addExisting(own, each, under, lineOf(node.get('chain') ?? node))
      const added = this.routes[own]
      if (!isLast && added) this.routes[own] = { ...added, abstract: true }
      under = own
    }
    if (others.length === 0) this.#report(name, node, 'has no list "chain"')
  }

  #texts(node: Tree, key: string): Record<string, string> | undefined {
    const below = node.get(key)
    if (!(below instanceof Map)) return undefined
    return Object.fromEntries([...below.keys()].map((name) => [name, textOf(below, name) ?? '']))
  }

  #reportOthers(name: string, node: Tree, known: readonly string[]): void {
    for (const [key, value] of node) {
      if (known.includes(key)) continue
      this.#report(name, value, `has "${key}", which is not translated`)
    }
  }

  #report(name: string, node: Node, problem: string): undefined {
    this.#problems.push([lineOf(node), `the route "${name}" ${problem}`])
  }

  // Checks a route as the front controller does, but not its parent, which may come later in the file.
  #check(name: string, node: Tree, { under: _, ...pattern }: Pattern): boolean {
    try {
      checkedRoutes({ [name]: pattern as RoutePattern })
      return true
    } catch (error) {
      this.#problems.push([lineOf(node), `${(error as Error).message}: it is left out`])
      return false
    }
  }
}

function textOf(node: Tree, key: string): string | undefined {
  const value = node.get(key)
  return value === undefined || value instanceof Map ? undefined : value.text
}

// Returns a requirement as ZF1 applies it: there, it ignores the case of letters.
function ignoringCase(text: string): string | RegExp {
  if (!/\p{L}/u.test(text.replace(/\\./g, ''))) return text
  try {
    return new RegExp(text, 'i')
  } catch {
    return text
  }
}

function lineOf(node: Node): number {
  if (!(node instanceof Map)) return node.line
  return [...node.values()].map(lineOf).reduce((first, line) => Math.min(first, line))
}
