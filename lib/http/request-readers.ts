import { isReserved } from './params.ts'
import { type HttpRequest, stateOf } from './request.ts'

/** Returns the merged parameters without the reserved names. The client sent all of them. */
export function clientParamsOf(request: HttpRequest): ReadonlyMap<string, string> {
  return new Map([...stateOf(request).params].filter(([name]) => !isReserved(name)))
}

/** Returns a header by its lower-case name, without reading the others. */
export function headerOf(request: HttpRequest, name: string): string | undefined {
  return stateOf(request).message.header(name)
}

/** Reports whether the declared length of the body is larger than a limit, in bytes. */
export function isDeclaredLonger(request: HttpRequest, maxBytes: number): boolean {
  return stateOf(request).message.isDeclaredLonger(maxBytes)
}
