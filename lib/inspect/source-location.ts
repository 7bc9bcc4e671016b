import { type Runtime, Session } from 'node:inspector'

/** Where a function is written. */
export interface SourceLocation {
  /** The URL of its file. */
  readonly url: string
  /** Its line there; the first is 1. */
  readonly line: number
}

// The session sees what it is asked about only where an expression can name it.
const SHELF = '__porticoSourcePlaces'

/**
 * Finds where functions are written, as the engine itself knows it: it takes no guess at their text.
 *
 * @returns A place for each, in their order; undefined for one without a file, and for all where the
 * inspector must not be used (`node --permission`).
 */
export function sourceLocations(
  functions: readonly unknown[],
): readonly (SourceLocation | undefined)[] {
  const session = new Session()
  try {
    session.connect()
  } catch {
    // A table without lines is better than none.
    return functions.map(() => undefined)
  }
  try {
    Reflect.set(globalThis, SHELF, functions)
    return placesOf(session, functions)
  } finally {
    Reflect.deleteProperty(globalThis, SHELF)
    session.disconnect()
  }
}

// Every post() of a session to its own thread is answered before it returns.
function placesOf(
  session: Session,
  functions: readonly unknown[],
): readonly (SourceLocation | undefined)[] {
  const urls = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  session.post('Debugger.enable')
  const objectIds = functions.map((_, i) => objectIdOf(session, `${SHELF}[${i}]`))
  session.post('Debugger.disable')
  return objectIds.map((objectId) => {
    const place = objectId === undefined ? undefined : locationOf(session, objectId)
    const url = urls.get(place?.scriptId ?? '')
    return place && url?.startsWith('file:') ? { url, line: place.lineNumber + 1 } : undefined
  })
}

function objectIdOf(session: Session, expression: string): string | undefined {
  let objectId: string | undefined
  session.post('Runtime.evaluate', { expression }, (_, answer) => {
    objectId = answer?.result.objectId
  })
  return objectId
}

interface Location {
  readonly scriptId: string
  readonly lineNumber: number
}

function locationOf(session: Session, objectId: string, depth = 0): Location | undefined {
  let internal: readonly Runtime.InternalPropertyDescriptor[] = []
  session.post('Runtime.getProperties', { objectId, ownProperties: true }, (_, answer) => {
    internal = answer?.internalProperties ?? []
  })
  const internalValue = (...names: string[]): Runtime.RemoteObject | undefined =>
    internal.find(({ name }) => names.includes(name))?.value
  const location: Location | undefined = internalValue('[[FunctionLocation]]')?.value
  // What a bound function or a proxy stands for.
  const target = internalValue('[[TargetFunction]]', '[[Target]]')?.objectId
  if (location !== undefined || target === undefined || depth > 8) return location
  return locationOf(session, target, depth + 1)
}
