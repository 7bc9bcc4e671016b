// The server for bench/attacks.js: serve() with its default limits, a log, and actions that fail in the ways of an application.

import { FrontController, HttpError, serve } from '../../dist/lib/index.js'
import { logger } from '../reports.js'

const LARGE_BODY = 'x'.repeat(1_048_576)

const controller = {
  save(request, response) {
    response.json({ count: request.form.size })
  },
  fail(request) {
    throw new Error(`Cannot save ${request.form.size} fields, such as ${textOf(request)}`)
  },
  short() {
    throw new Error('Cannot save the form')
  },
  reject(request) {
    throw new HttpError(400, `Invalid fields, such as ${textOf(request)}`)
  },
  chain(request) {
    throw nested(textOf(request))
  },
  large(_, response) {
    response.text(LARGE_BODY)
  },
}

export async function start() {
  const controllers = new Map([['form', controller]])
  // With `onReport`, every error has its report, also those that the log only counts.
  const front = new FrontController({ controllers, logger, onReport: logger.error })
  const { server } = await serve(front, { port: 0 })
  return server
}

// Returns the title; without one, as much of the values or of the cookies, whichever are longer, as a report searches.
function textOf({ form, query, cookies }) {
  const title = form.get('title')
  if (title !== null) return title
  const values = [...form.values(), ...query.values()].join(' ')
  const texts = [values, [...cookies.values()].join(' ')]
  return texts.sort((one, other) => other.length - one.length)[0].slice(0, 12_000)
}

// An error with 340 others: each quotes the request, and each is in the report.
function nested(text) {
  const causes = Array.from({ length: 340 }, (_, i) => new Error(`${i} ${text}`))
  return new AggregateError(causes, text, { cause: new Error(text) })
}
