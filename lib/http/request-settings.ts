import { BlockList } from 'node:net'
import type { HttpError } from './errors.ts'
import type { Route } from './route.ts'
import type { UrlOptions, UrlParams } from './url-params.ts'

/** The settings that all requests of one front controller share. */
export interface RequestSettings {
  /** Maximum number of bytes that are read from a body. */
  readonly maxBodyBytes: number
  /** The addresses of trusted proxies. */
  readonly trusted: BlockList
  /** Builds URLs; undefined with a custom router. */
  readonly urls?: UrlBuilder | undefined
}

/** Builds URLs: the inverse of routing. */
export interface UrlBuilder {
  /**
   * Returns the path of a URL, with the base path.
   *
   * @param current The request that the URL may take names and pairs from.
   */
  url(current: RoutedRequest, params: UrlParams, options: UrlOptions): string
}

/** The parts of a request that a URL may reuse. */
export interface RoutedRequest {
  readonly route?: Route | undefined
  readonly rejection?: HttpError | undefined
  readonly pairs: URLSearchParams
}

/** The settings of a request before a front controller handles it. */
export const NO_SETTINGS: RequestSettings = {
  maxBodyBytes: Number.POSITIVE_INFINITY,
  trusted: new BlockList(),
}
