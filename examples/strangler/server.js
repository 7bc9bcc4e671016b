// node examples/strangler/server.js
//
// After `npm ci && npm run build`. Beside it, the old site: php -S 127.0.0.1:8000 examples/strangler/php/index.php
// A controller moves by a file in examples/strangler/controllers; what has none there is answered by PHP.
// PORT and OLD_SITE are where they listen: 3000 and http://127.0.0.1:8000 where they are not set.
import { FrontController, loadControllers, serve } from 'portico'
import { createStrangler, namesOf } from './proxy.js'

const { PORT = '3000', OLD_SITE = 'http://127.0.0.1:8000' } = process.env

const directory = await loadControllers(`${import.meta.dirname}/controllers`)
const front = new FrontController({ ...directory, logger: console })
const strangler = createStrangler(front, { origin: OLD_SITE, moved: namesOf(directory) })
const service = await serve(strangler, { port: Number(PORT) })
console.log(`${service.url}, before ${OLD_SITE}`)

process.once('SIGTERM', stop).once('SIGINT', stop)

async function stop() {
  await service.close()
  await strangler.close()
}
