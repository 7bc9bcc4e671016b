// node examples/strangler/server.js
//
// Run `npm ci && npm run build` first, and start the old site:
//   php -S 127.0.0.1:8000 examples/strangler/php/index.php
// To move a controller, add a file to examples/strangler/controllers. PHP serves all other controllers.
// PORT is the port of this server (default 3000). OLD_SITE is the old site (default http://127.0.0.1:8000).
import { FrontController, loadControllers, serve } from 'portico'
import { controllerNames, createStrangler } from './proxy.js'

const { PORT = '3000', OLD_SITE = 'http://127.0.0.1:8000' } = process.env

const directory = await loadControllers(`${import.meta.dirname}/controllers`)
const front = new FrontController({ ...directory, logger: console })
const strangler = createStrangler(front, { origin: OLD_SITE, moved: controllerNames(directory) })
const service = await serve(strangler, { port: Number(PORT) })
console.log(`${service.url}, in front of ${OLD_SITE}`)

process.once('SIGTERM', stop).once('SIGINT', stop)

async function stop() {
  await service.close()
}
