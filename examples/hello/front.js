import { FrontController } from 'portico'

/** @satisfies {Record<string, import('portico').Action>} */
const hello = {
  world(request, response) {
    response.text(`Hello, ${request.param('name') ?? 'world'}!\n`)
  },
}

export const front = new FrontController({ controllers: new Map([['hello', hello]]) })
