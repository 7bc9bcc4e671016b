import { type Expression, PATH_STEPS } from './expression.ts'
import type { PathText } from './path-text.ts'
import { type Requirements, toVariable, unmetError, variablesIn } from './route-checks.ts'
import { routeError } from './route-error.ts'
import type { Variable } from './route-part.ts'
import { type RouteTarget, valueIn } from './route-target.ts'

// Matches an address of version 6, or a name in ASCII (RFC 1035 allows 253 characters); then the port.
const HOST = /^(\[[\da-f:.]{2,45}\]|(?!\.)[\w.-]{0,255})(?::(\d{1,5}))?$/i
const PATTERN = /^(?:\[[\da-f:]+\]|:?[\w-]+(?:\.:?[\w-]+)*)$/i
const LABEL = /^[\w-]{1,63}$/
const MAX_PORT = 65_535

/** Why a host does not match. */
export const OTHER_HOST = 'the host differs'

type Label = { readonly text: string } | Variable

/** Returns the name of a host in lower case, without final dots, and its port; undefined if it is invalid. */
export function parseHost(host: string): { name: string; port: string } | undefined {
  const [, name, port = ''] = HOST.exec(host) ?? []
  if (name === undefined || Number(port) > MAX_PORT) return undefined
  let end = name.length
  while (name[end - 1] === '.') end--
  return { name: name.slice(0, end).toLowerCase(), port }
}

/** Returns the labels of a host in lower case; undefined if it is invalid. */
export function labelsOf(host: string): readonly string[] | undefined {
  const name = parseHost(host)?.name
  return name === '' ? [] : name?.split('.')
}

/** The host of a route, with the syntax of Zend_Controller_Router_Route_Hostname. */
export class HostPattern {
  readonly text: string
  readonly variables: ReadonlySet<string>
  readonly #name: string
  readonly #labels: readonly Label[]
  readonly #defaults: ReadonlyMap<string, unknown>

  constructor(
    name: string,
    host: unknown,
    requirements: Requirements,
    defaults: ReadonlyMap<string, unknown>,
  ) {
    if (typeof host !== 'string' || !PATTERN.test(host)) {
      throw routeError(
        name,
        'has an invalid "host": expected labels such as ":account.news.example"',
      )
    }
    this.#name = name
    this.text = host
    this.#labels = host.split('.').map((label) => {
      if (!label.startsWith(':')) return { text: label.toLowerCase() }
      return toVariable(name, label, requirements, true)
    })
    this.#defaults = defaults
    const variables = variablesIn(this.#labels)
    this.variables = new Set(variables.map(({ variable }) => variable))
    if (variables.length > this.variables.size) {
      throw routeError(name, 'has a variable twice in its "host"')
    }
  }

  /** The regular expressions that run on labels. */
  get expressions(): readonly Expression[] {
    return variablesIn(this.#labels).flatMap(({ requirement }) => requirement ?? [])
  }

  /** Reports whether a host has the literal labels, and no more labels than this one. */
  hasLiterals(labels: readonly string[] | undefined): boolean {
    return (
      labels !== undefined &&
      labels.length <= this.#labels.length &&
      this.#labels.every((part, i) => 'variable' in part || part.text === labels[i])
    )
  }

  /**
   * Returns the values of the variables, or why a host does not match that {@link hasLiterals}.
   *
   * @param path It remembers the results of requirements.
   */
  match(labels: readonly string[], path: PathText): [string, string][] | string {
    const values: [string, string][] = []
    for (const [i, part] of this.#labels.entries()) {
      if ('text' in part) continue
      const label = labels[i]
      const { variable, requirement, miss } = part
      if (label === undefined) {
        if (!this.#defaults.has(variable)) return OTHER_HOST
        continue
      }
      if (!LABEL.test(label)) return OTHER_HOST
      if (requirement && !path.meets(requirement, label, { steps: PATH_STEPS })) return miss
      values.push([variable, label])
    }
    return values
  }

  /** Builds the host of a target. Unlike a path, it omits no variable. */
  build(target: RouteTarget): string {
    const labels = this.#labels.map((part) => {
      if ('text' in part) return part.text
      const { variable, requirement } = part
      const value = valueIn(variable, target)
      if (value === undefined) throw routeError(this.#name, `needs "${variable}"`)
      if (!LABEL.test(value)) {
        throw new TypeError(`No URL can hold the value of "${variable}": it is not a host label`)
      }
      if (requirement?.test(value) === false) throw unmetError(this.#name, variable)
      return value
    })
    return labels.join('.')
  }
}
