import type { Runtime, Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'

/** The definition of a function. */
export interface FunctionLocation {
  /** The absolute path of the file. */
  readonly file: string
  /** From 1. */
  readonly line: number
}

// V8 evaluates an expression, so it reads the functions from a global variable.
const VARIABLE = 'porticoLocatedFunctions'

/**
 * Returns the location of each function that is defined in a file. Only the inspector of V8 knows it.
 *
 * A function that another function created, such as a decorator of an action, has no location here: it would be that of the
 * decorator, which is the same for all actions.
 */
export function locateFunctions(
  functions: readonly unknown[],
): ReadonlyMap<unknown, FunctionLocation> {
  const locations = new Map<unknown, FunctionLocation>()
  try {
    const inspector = new Inspector()
    try {
      for (const [i, properties] of inspector.internalProperties(functions).entries()) {
        const location = inspector.locationOf(properties)
        if (location !== undefined) locations.set(functions[i], location)
      }
    } finally {
      inspector.close()
    }
  } catch {
    // The runtime has no inspector, or may not use it (node --permission).
  }
  return locations
}

type Properties = readonly Runtime.InternalPropertyDescriptor[]

// A session with this thread: it opens no port, and its calls return at once.
class Inspector {
  readonly #session: Session
  readonly #urls = new Map<string, string>()

  constructor() {
    const { Session } = process.getBuiltinModule('node:inspector')
    this.#session = new Session()
    this.#session.connect()
    this.#session.on('Debugger.scriptParsed', ({ params }) => {
      this.#urls.set(params.scriptId, params.url)
    })
    this.#call('Debugger.enable', {})
  }

  close(): void {
    this.#session.disconnect()
  }

  internalProperties(functions: readonly unknown[]): readonly Properties[] {
    Reflect.set(globalThis, VARIABLE, functions)
    try {
      return functions.map((_, i) => {
        const expression = `${VARIABLE}[${i}]`
        const { result } = this.#call<Runtime.EvaluateReturnType>('Runtime.evaluate', {
          expression,
        })
        return this.#propertiesOf(result).internalProperties ?? []
      })
    } finally {
      Reflect.deleteProperty(globalThis, VARIABLE)
    }
  }

  locationOf(properties: Properties): FunctionLocation | undefined {
    const read = (name: string): Runtime.RemoteObject | undefined =>
      properties.find((property) => property.name === name)?.value
    const target = read('[[TargetFunction]]')
    if (target) return this.locationOf(this.#propertiesOf(target).internalProperties ?? [])
    const { scriptId = '', lineNumber = 0 } = read('[[FunctionLocation]]')?.value ?? {}
    const url = this.#urls.get(scriptId) ?? ''
    if (!url.startsWith('file:') || this.#isClosure(read('[[Scopes]]'))) return undefined
    return { file: fileURLToPath(url), line: lineNumber + 1 }
  }

  #isClosure(scopes: Runtime.RemoteObject | undefined): boolean {
    const { result } = scopes ? this.#propertiesOf(scopes) : { result: [] }
    return result.some(({ value }) => value?.description?.startsWith('Closure'))
  }

  #propertiesOf({ objectId = '' }: Runtime.RemoteObject): Runtime.GetPropertiesReturnType {
    return this.#call('Runtime.getProperties', { objectId, ownProperties: true })
  }

  #call<T>(method: string, params: object): T {
    let answer: object | undefined
    this.#session.post(method, params, (_, result) => {
      answer = result
    })
    if (answer === undefined) throw new Error('The inspector failed, or does not answer at once')
    return answer as T
  }
}
