// node examples/hello/server.js
//
// After `npm ci && npm run build`. Then http://127.0.0.1:3000/hello/world/name/Ada says hello to Ada.
import { serve } from 'portico'
import { front } from './front.js'

const { url } = await serve(front, { port: Number(process.env.PORT ?? 3000) })
console.log(url)
