import { recorded } from './application.js'
import { differing, MODELS, RULES } from './model.js'
import { Zf1 } from './zf1.js'

/**
 * Runs the vectors through ZF1 and the model: is this ZF1 the recorded one, is the model with nothing
 * turned on ZF1, and with everything what is expected of Portico?
 *
 * @returns What is not so, a line each.
 */
export async function calibrate(zf1, vectors) {
  const whole = new Zf1(recorded)
  try {
    const found = await Promise.all(vectors.map((vector) => calibrateOne(zf1, whole, vector)))
    return found.flat()
  } finally {
    whole.end()
  }
}

async function calibrateOne(zf1, whole, { id, request, zf1: told, expect }) {
  const [real, unchanged] = await whole.ask(request, [null, { names: 'exact', ids: [] }])
  const models = await zf1.ask(request, MODELS)
  const checks = [
    ['ZF1 is not as recorded', comparable(told, request), asRecorded(real)],
    ['The model with nothing turned on is not ZF1', real, unchanged],
    ...models.map((model, i) => {
      const due = expect[RULES[i]] ?? expect.exact
      return [`The model under ${RULES[i]} is not as expected`, expected(due, model), model]
    }),
  ]
  return checks
    .map(([fault, due, actual]) => [fault, differing(due, actual)])
    .filter(([, fields]) => fields.length > 0)
    .map(([fault, fields]) => `${fault}: ${id}, ${fields}`)
}

// PHP has no parser of multipart forms on the command line.
function comparable({ form, ...others }, { headers }) {
  const isMultipart = headers.some(([, value]) => value.startsWith('multipart/'))
  return isMultipart ? others : { ...others, form }
}

// A client's `error_handler` is among the pairs of ZF1, and was left out of the record.
function asRecorded(outcome) {
  if (outcome.outcome !== 'error') return outcome
  return { ...outcome, path: outcome.path.filter(([name]) => name !== 'error_handler') }
}

// The client's `q` is not told here, and the status of a rejection alone.
function expected(due, model) {
  const fields = Object.keys(due).filter((field) => field in model)
  const query = due.query.filter(([name]) => name !== 'q')
  return Object.fromEntries(fields.map((field) => [field, { ...due, query }[field]]))
}
