// The least program with bare `node:http` that can be compared with `node dist/server.js`. program.js starts it.

import { createServer } from 'node:http'

const server = createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 11 })
  response.end('{"ok":true}')
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }))
})
