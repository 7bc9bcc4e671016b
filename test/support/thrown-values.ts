import { HttpError } from '../../lib/index.ts'
import { fail } from './loop.ts'

/** A proxy whose every trap throws. */
export const throwingProxy = new Proxy({}, { get: fail })

/** The values that an action may throw. Some throw again when they are read. */
export const thrownValues = {
  error: new Error('x'),
  'frozen error': Object.freeze(new Error('x')),
  'frozen HttpError': Object.freeze(new HttpError(418, 'x')),
  null: null,
  undefined: undefined,
  string: 'x',
  'empty string': '',
  number: 42,
  symbol: Symbol('x'),
  function: () => {},
  'object without a prototype': Object.create(null),
  'object with getters that throw': Object.defineProperties(
    {},
    { message: { get: fail }, code: { get: fail }, status: { get: fail } },
  ),
  'error with getters that throw': Object.defineProperties(new Error('x'), {
    message: { get: fail },
    code: { get: fail },
  }),
  'HttpError with getters that throw': Object.defineProperties(new HttpError(418, 'x'), {
    status: { get: fail },
    headers: { get: fail },
    type: { get: fail },
  }),
  'proxy whose traps throw': new Proxy({}, throwingProxy),
  'proxy of an error': new Proxy(new Error('x'), throwingProxy),
}

/** The ways in which an action may fail with a value. */
export const waysToFail: Record<string, (value: unknown) => () => unknown> = {
  thrown: (value) => () => {
    throw value
  },
  rejected: (value) => () => Promise.reject(value),
  'thrown after await': (value) => async () => {
    await new Promise(setImmediate)
    throw value
  },
}
