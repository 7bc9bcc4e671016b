/** The parts of a `package.json` that `init` reads or adds. */
export interface PackageJson {
  type?: string
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

// The script `test` that `npm init` writes.
const NO_TEST = 'echo "Error: no test specified" && exit 1'

/** Parses a `package.json`. Returns undefined if it is not JSON, or if it or one of these parts is not an object. */
export function parsePackageJson(text: string): PackageJson | undefined {
  try {
    // Editors of Windows may begin a file with a byte order mark. npm accepts it too.
    const value = JSON.parse(text.replace(/^\uFEFF/, ''))
    const { scripts = {}, dependencies = {}, devDependencies = {} } = value
    return [value, scripts, dependencies, devDependencies].every(isRecord) ? value : undefined
  } catch {
    // Not JSON, or null.
    return undefined
  }
}

/** The parts that a `package.json` needs. */
export type NeededParts = Required<Pick<PackageJson, 'scripts' | 'dependencies'>> & {
  /** Undefined to add none. */
  readonly type: string | undefined
}

/** Adds the missing keys to a `package.json`, and changes no others. Returns them, such as `scripts.start`. */
export function addMissingKeys(target: PackageJson, needed: NeededParts): readonly string[] {
  const added: string[] = []
  if (target.type === undefined && needed.type !== undefined) {
    target.type = needed.type
    added.push('type')
  }
  for (const part of ['scripts', 'dependencies'] as const) {
    for (const [key, value] of Object.entries(needed[part])) {
      const current = target[part]?.[key]
      if (current !== undefined && current !== NO_TEST) continue
      target[part] = { ...target[part], [key]: value }
      added.push(`${part}.${key}`)
    }
  }
  return added
}

/** Formats a `package.json` with the indentation and the line breaks of its former text. */
export function formatPackageJson(value: PackageJson, former: string): string {
  const [indent] = /^[ \t]+(?=")/m.exec(former) ?? ['  ']
  const text = JSON.stringify(value, null, indent) + (former.endsWith('\n') ? '\n' : '')
  return former.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
