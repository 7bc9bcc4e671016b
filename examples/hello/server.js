// node examples/hello/server.js
//
// Run `npm ci && npm run build` first. Then open http://127.0.0.1:3000/hello/world/name/Ada.
import { serve } from 'portico'
import { front } from './front.js'

const { url } = await serve(front, { port: Number(process.env.PORT ?? 3000) })
console.log(url)
