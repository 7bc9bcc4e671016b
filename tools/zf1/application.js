/** The application of the vectors: the actions of each controller, by module. */
export const application = {
  default: {
    index: ['index', 'about'],
    news: ['index', 'list', 'view', 'fooBar'],
    'user-admin': ['index', 'saveAll'],
    error: ['error'],
  },
  admin: { index: ['index', 'list'], report: ['index', 'daily'] },
  'api-v2': { index: ['index', 'ping'] },
}

/** The same with what the application had beside it when the vectors were recorded. */
export const recorded = {
  ...application,
  default: {
    ...application.default,
    error: ['error', 'denied'],
    misnamed: ['index'],
    state: ['index'],
    visibility: ['index'],
  },
  admin: { ...application.admin, error: ['error'] },
}

/** As it stands in a path: `fooBar` is reached as `foo-bar`. */
export function kebabCased(name) {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
