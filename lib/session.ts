/** @module portico/session */

export type { Flash } from './session/flash.ts'
export { createSession, type Session, type SessionOptions } from './session/session.ts'
