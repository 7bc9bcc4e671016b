import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

// A provider for tests. It signs everybody in as `user`, at once, and checks nothing.
export async function startProvider() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const key = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'RS256' }
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`
  const provider = {
    issuer,
    user: { sub: '1', name: 'Ada', email: 'ada@news.example', email_verified: true },
    close: () => server.close(),
  }

  const document = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }
  // The parameters of each request for a code, by the code.
  /** @type {Map<string | null, URLSearchParams>} */
  const asked = new Map()

  /** @param {URLSearchParams} form */
  async function tokens(form) {
    const { client_id = '', nonce } = Object.fromEntries(asked.get(form.get('code')) ?? [])
    const idToken = new SignJWT({ ...provider.user, nonce })
      .setProtectedHeader({ alg: 'RS256', kid: 'test' })
      .setIssuer(issuer)
      .setAudience(client_id)
      .setIssuedAt()
      .setExpirationTime('5 minutes')
    return {
      access_token: crypto.randomUUID(),
      token_type: 'Bearer',
      id_token: await idToken.sign(privateKey),
    }
  }

  server.on('request', async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
    if (pathname === '/authorize') {
      const code = crypto.randomUUID()
      asked.set(code, searchParams)
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', code)
      back.searchParams.set('state', searchParams.get('state') ?? '')
      response.writeHead(303, { Location: back.href }).end()
      return
    }
    const documents = { '/.well-known/openid-configuration': document, '/keys': { keys: [key] } }
    const found = Object.entries(documents).find(([path]) => path === pathname)?.[1]
    const body = found ?? (await tokens(new URLSearchParams(await text(request))))
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
  })
  return provider
}
