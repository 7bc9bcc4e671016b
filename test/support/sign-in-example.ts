import type { TestContext } from 'node:test'
import { type OidcServer, startOidcServer } from './oidc-server.ts'
import { findFreePorts } from './ports.ts'
import { type Program, ServerProcess } from './server-process.ts'

/** The application of docs/sign-in.md, which runs in a process of its own. */
export interface SignInExample {
  /** The origin that browsers see, such as `http://localhost:40123`. */
  readonly origin: string
  readonly provider: OidcServer
  readonly server: ServerProcess
}

/** Starts an application and its provider until the test ends. They are two sites: `localhost` and `127.0.0.1`. */
export async function startSignInExample(
  t: TestContext,
  { program, args = ['--app', 'examples/sign-in/app.js'], pages = false }: ExampleOptions = {},
): Promise<SignInExample> {
  const [port] = await findFreePorts(1)
  const origin = `http://localhost:${port}`
  const redirectUris = [`${origin}/elp/oauth.php?provider=google`]
  const provider = await startOidcServer(t, { redirectUris, pages })
  const { issuer, clientId, clientSecret = '' } = provider.client()
  const env = {
    ORIGIN: origin,
    SIGN_IN_SECRET: 'a secret of the tests: 32 bytes or more',
    GOOGLE_ISSUER: issuer,
    GOOGLE_CLIENT_ID: clientId,
    GOOGLE_CLIENT_SECRET: clientSecret,
    ADMIN_EMAIL: 'ada@example.org',
  }
  const server = new ServerProcess(t, ['--port', String(port), ...args], env, program)
  await server.url()
  return { origin, provider, server }
}

/** The options of {@link startSignInExample}. */
export interface ExampleOptions {
  /** The program, and the folder in which it runs (default: the built program in the repository). */
  readonly program?: Program
  /** The arguments of the program (default: the application file of the example). */
  readonly args?: readonly string[]
  /** Whether the user must press buttons at the provider (default false). */
  readonly pages?: boolean
}
