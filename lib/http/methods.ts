/** An HTTP method: a standard one, or any other that `node:http` accepts. */
export type Method =
  | ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')
  | (string & Record<never, never>)

/** Methods that no action serves. A response to TRACE would show the secrets that a proxy added; CONNECT is for proxies. */
export const FORBIDDEN_METHODS: readonly string[] = ['TRACE', 'CONNECT']

/** The methods that `Allow` lists for an action without a restriction. */
export const STANDARD_METHODS: readonly string[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]
