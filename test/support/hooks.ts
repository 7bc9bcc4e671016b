/** The moments of a plugin, in the order in which a request meets them. */
export const moments = [
  'routeStartup',
  'routeShutdown',
  'dispatchLoopStartup',
  'preDispatch',
  'postDispatch',
  'dispatchLoopShutdown',
] as const
