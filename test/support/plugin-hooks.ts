/** The hooks of a plugin, in the order in which a request passes them. */
export const pluginHooks = [
  'routeStartup',
  'routeShutdown',
  'dispatchLoopStartup',
  'preDispatch',
  'postDispatch',
  'dispatchLoopShutdown',
] as const
