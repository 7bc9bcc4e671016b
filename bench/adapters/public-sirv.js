// F1 with sirv, as in production: it lists the files once. bench/public-files.js starts this server.

import { createServer } from 'node:http'
import sirv from 'sirv'
import { listen } from '../listen.js'
import { publicFolder } from '../public-folder.js'

export function start() {
  return listen(createServer(sirv(publicFolder(), { etag: true })))
}
