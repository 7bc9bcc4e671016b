// node dist/server.js --app examples/notebook/app.ts --public examples/notebook/public

// The notebook of docs/guide.md, with types.

import { type FrontControllerOptions, sameOrigin } from 'portico'
import adminNotes from './controllers/admin/notes.ts'
import api from './controllers/api.ts'
import error from './controllers/error.ts'
import index from './controllers/index.ts'
import notes from './controllers/notes.ts'
import settings from './controllers/settings.ts'
import { guard } from './guard.ts'

export default {
  controllers: { api, error, index, notes, settings },
  modules: { admin: { notes: adminNotes } },
  plugins: [sameOrigin(), guard],
  routes: {
    note: {
      path: '/note/:id',
      defaults: { controller: 'notes', action: 'view' },
      requirements: { id: '\\d+' },
    },
  },
  // Every response has these headers.
  headers: { 'Content-Security-Policy': "default-src 'self'" },
} satisfies FrontControllerOptions
