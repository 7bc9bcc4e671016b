/** The hooks of a controller. Like `__call`, they are no actions. */
export const HOOKS = ['init', 'preDispatch', 'postDispatch']

/** The application that runs in ZF1 and in Portico: the actions and hooks of each controller, by module. */
export const application = {
  default: {
    index: ['index', 'about'],
    news: ['index', 'list', 'view', 'fooBar'],
    'user-admin': ['index', 'saveAll'],
    guarded: [...HOOKS, 'index', 'list'],
    trapping: [...HOOKS, '__call', 'index'],
    error: [...HOOKS, 'error'],
  },
  admin: { index: ['index', 'list'], report: ['preDispatch', 'index', 'daily'] },
  'api-v2': { index: ['index', 'ping'] },
}

/** The application of the recordings: the same, with some more controllers and actions. */
export const recordedApplication = {
  ...application,
  default: {
    ...application.default,
    error: [...HOOKS, 'error', 'denied'],
    misnamed: ['index'],
    state: ['index'],
    visibility: ['index'],
  },
  admin: { ...application.admin, error: ['error'] },
}

/** Returns a name as it is written in a path: `foo-bar` for `fooBar`. */
export function kebabCased(name) {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
