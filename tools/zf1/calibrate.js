import { recordedApplication } from './application.js'
import { differingFields, MODELS, RULES } from './model.js'
import { Zf1 } from './zf1.js'

/**
 * Runs the vectors through ZF1 and through the model, and checks three things: ZF1 has the recorded outcomes; the model
 * without differences has the outcomes of ZF1; the model with all differences has the outcomes that are expected of Portico.
 *
 * @returns A list of faults, one line each; empty if all checks pass.
 */
export async function calibrate(zf1, vectors) {
  const recordedZf1 = new Zf1(recordedApplication)
  try {
    const faults = await Promise.all(
      vectors.map((vector) => calibrateOne(zf1, recordedZf1, vector)),
    )
    return faults.flat()
  } finally {
    recordedZf1.stop()
  }
}

async function calibrateOne(zf1, recordedZf1, { id, request, zf1: recorded, expect }) {
  const [real, unchanged] = await recordedZf1.run(request, [null, { names: 'exact', ids: [] }])
  const models = await zf1.run(request, MODELS)
  const checks = [
    [
      'ZF1 differs from the recording',
      withoutMultipartForm(recorded, request),
      withoutErrorHandler(real),
    ],
    ['The model without differences differs from ZF1', real, unchanged],
    ...models.map((model, i) => {
      const expected = expect[RULES[i]] ?? expect.exact
      return [
        `The model under ${RULES[i]} differs from the expected outcome`,
        comparablePart(expected, model),
        model,
      ]
    }),
  ]
  return checks
    .map(([fault, expected, actual]) => [fault, differingFields(expected, actual)])
    .filter(([, fields]) => fields.length > 0)
    .map(([fault, fields]) => `${fault}: ${id}, ${fields}`)
}

// PHP on the command line does not parse multipart forms.
function withoutMultipartForm({ form, ...others }, { headers }) {
  const isMultipart = headers.some(([, value]) => value.startsWith('multipart/'))
  return isMultipart ? others : { ...others, form }
}

// In ZF1 a client's `error_handler` is one of the pairs; the recordings do not contain it.
function withoutErrorHandler(outcome) {
  if (outcome.outcome !== 'error') return outcome
  return { ...outcome, path: outcome.path.filter(([name]) => name !== 'error_handler') }
}

// The fields that the model has too. The model leaves out a client's `q`, and gives a status only for a rejection.
function comparablePart(expected, model) {
  const fields = Object.keys(expected).filter((field) => field in model)
  const query = expected.query.filter(([name]) => name !== 'q')
  return Object.fromEntries(fields.map((field) => [field, { ...expected, query }[field]]))
}
