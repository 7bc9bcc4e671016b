// F1 with withPublicFiles(). bench/public-files.js starts this server.

import { createServer } from 'node:http'
import { createRequestListener, FrontController, withPublicFiles } from '../../dist/lib/index.js'
import { listen } from '../listen.js'
import { publicFolder } from '../public-folder.js'

export function start() {
  const handler = withPublicFiles(new FrontController(), publicFolder())
  return listen(createServer(createRequestListener(handler)))
}
