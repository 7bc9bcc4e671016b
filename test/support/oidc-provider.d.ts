// The parts of oidc-provider that the tests use: the package has no types.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    addOIDCClaims(claims: readonly string[]): void
    save(): Promise<string>
  }

  interface Interaction {
    readonly prompt: {
      readonly name: string
      readonly details: {
        readonly missingOIDCScope?: readonly string[]
        readonly missingOIDCClaims?: readonly string[]
      }
    }
    readonly params: { readonly client_id: string }
    readonly session?: { readonly accountId: string }
    readonly grantId?: string
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    readonly Grant: {
      new (of: { accountId: string; clientId: string }): Grant
      find(id: string): Promise<Grant | undefined>
    }
    callback(): RequestListener
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
  }
}
