import { timingSafeEqual } from 'node:crypto'
import { HttpError, type Plugin } from 'portico'

// A public site reads the password from its environment.
const SECRET = Buffer.from(`Basic ${btoa('admin:correct horse')}`)

export const guard: Plugin = {
  preDispatch(request) {
    if (request.module !== 'admin') return
    const sent = Buffer.from(String(request.headers.authorization ?? ''))
    if (sent.length === SECRET.length && timingSafeEqual(sent, SECRET)) return
    throw new HttpError(401, 'Sign in first', { headers: { 'WWW-Authenticate': 'Basic' } })
  },
}
