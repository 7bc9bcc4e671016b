import { type FrontControllerOptions, sameOrigin } from 'portico'
import error from './controllers/error.ts'
import index from './controllers/index.ts'
import news from './controllers/news.ts'

const options: FrontControllerOptions = {
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
