// node --env-file=.env dist/server.js --app examples/sign-in/app.js

// The application of docs/sign-in.md: everybody reads the first page, users read /account, and administrators /admin.
// Its test signs in: node --test examples/sign-in/test/app.test.js

import { get, HttpError, html } from 'portico'
import { auth } from './auth.js'

/** @satisfies {Record<string, import('portico').Action>} */
const index = {
  index: get(async (request, response) => {
    const identity = await auth.identity(request)
    if (identity === undefined) {
      return response.html(html`<p><a href="${auth.url('google')}">Sign in</a></p>`)
    }
    return response.html(html`<p>Hello ${identity.name ?? 'reader'}</p>
<form method="post" action="/elp/sign-out"><button>Sign out</button></form>`)
  }),
}

/** @satisfies {Record<string, import('portico').Action>} */
const account = {
  index: get(async (request, response) => response.json(await auth.identity(request))),
}

/** @satisfies {Record<string, import('portico').Action>} */
const news = {
  index: get((request, response) => response.text(`Edit item ${request.param('id')}`)),
}

// The guard lets every user in. This plugin, after the guard, decides what a user may do.
// Not with --names zf1: there, /ADMIN/news bypasses it. Check in the preDispatch of each controller instead.
/** @type {import('portico').Plugin} */
const adminsOnly = {
  async preDispatch(request) {
    if (request.module !== 'admin') return
    const { data } = (await auth.identity(request)) ?? {}
    if (data?.role !== 'admin') throw new HttpError(403, 'Administrators only')
  },
}

/** @type {import('portico').FrontControllerOptions} */
const options = {
  controllers: { elp: auth.controller, index, account },
  modules: { admin: { news } },
  plugins: [
    auth.guard(({ module, controller }) => module === 'admin' || controller === 'account'),
    adminsOnly,
  ],
  // The back button shows no page of a user who has signed out.
  headers: { 'Cache-Control': 'no-store' },
}

export default options
