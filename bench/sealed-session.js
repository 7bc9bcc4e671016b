// The session of S1.

import { HttpResponse } from '../dist/lib/index.js'
import { createSession } from '../dist/lib/session.js'

/** The session that the server of S1 reads. */
export const session = createSession({
  origin: 'http://localhost:3000',
  secrets: ['an invented secret of the benchmark, 32 bytes or more'],
})

/** Returns the cookie of a session, as a browser sends it. */
export async function sealedSession() {
  const response = new HttpResponse()
  await session.write(response, { user: 'ada', roles: ['editor'] })
  const [cookie] = [response.headers.get('Set-Cookie')].flat()
  return cookie.split(';')[0]
}
