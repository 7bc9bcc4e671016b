import { sameOrigin } from 'portico'
import error from './controllers/error.js'
import index from './controllers/index.js'
import news from './controllers/news.js'

/** @type {import('portico').FrontControllerOptions} */
const options = {
  controllers: { index, news, error },
  // Rejects forms that another site sends.
  plugins: [sameOrigin()],
  // Every response has these headers.
  headers: {
    'Content-Security-Policy': "default-src 'self'; form-action 'self'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
  },
}

export default options
