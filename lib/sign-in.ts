/** @module portico/sign-in */

export type { ErrorLink } from './controllers/error-hooks.ts'
export { SignInError, type SignInFacts } from './reporting/sign-in-hint.ts'
export type {
  Claims,
  Identity,
  SignInDetails,
  Tokens,
  UserFacts,
} from './sign-in/identity.ts'
export type { SignInOptions } from './sign-in/options.ts'
export type {
  ClientAuth,
  ClientOptions,
  EndpointOptions,
  IssuerOptions,
  ProviderOptions,
} from './sign-in/provider-options.ts'
export { type BeginOptions, type GuardOptions, type SignIn, signIn } from './sign-in/sign-in.ts'
