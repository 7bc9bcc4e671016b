import { DIFFERENCES, differingFields, MODELS, RULES } from './model.js'
import { createPortico } from './portico.js'
import { reduce } from './reduce.js'
import { isSendable } from './requests.js'

const IN_FLIGHT = 32

/** Sends requests to Portico (under both name rules) and to ZF1, and classifies the outcomes. */
export class Comparison {
  /** For each rule: the number of requests of each kind. */
  counts = Object.fromEntries(RULES.map((names) => [names, new Map()]))
  #zf1
  #portico = RULES.map(createPortico)
  #unexplained = new Map()

  constructor(zf1) {
    this.#zf1 = zf1
  }

  async run(requests) {
    const work = async () => {
      for (const request of requests) await this.#add(request)
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  }

  /** Yields a minimal request for each way in which Portico is wrong, with the expected and the actual outcome. */
  async *examples(limit) {
    for (const { request, names, fields } of [...this.#unexplained.values()].slice(0, limit)) {
      const isSame = async (candidate) =>
        isSendable(candidate) && `${(await this.#compare(candidate, names)).fields}` === `${fields}`
      const minimal = await minimise(request, isSame)
      yield { names, request: minimal, ...(await this.#compare(minimal, names)) }
    }
  }

  async #add(request) {
    for (const names of RULES) {
      const compared = await this.#compare(request, names)
      const kinds = await this.#kindsOf(request, names, compared)
      const counts = this.counts[names]
      for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
      if (compared.fields.length > 0) this.#keep(request, names, compared.fields)
    }
  }

  // Portico must be equal to ZF1 with all differences. So it is also a fault if Portico equals ZF1 where it must differ.
  async #compare(request, names) {
    const rule = RULES.indexOf(names)
    const [real, expected] = await this.#zf1.run(request, [null, MODELS[rule]])
    const outcome = await this.#portico[rule](request)
    return { real, expected, outcome, fields: differingFields(expected, outcome) }
  }

  // For an explained request, also the ids of a minimal set of differences that explains it.
  async #kindsOf(request, names, { real, outcome, fields }) {
    if (fields.length > 0) return ['unexplained']
    if (differingFields(real, outcome).length === 0) return ['equal']
    const ids = await reduce(DIFFERENCES, async (some) => {
      const [modelled] = await this.#zf1.run(request, [{ names, ids: some }])
      return differingFields(modelled, outcome).length === 0
    })
    return ['explained', ...ids]
  }

  // Keeps the shortest request of each kind.
  #keep(request, names, fields) {
    const kind = `${names} ${fields}`
    const shortest = this.#unexplained.get(kind)?.request.target.length ?? Number.POSITIVE_INFINITY
    if (request.target.length < shortest) this.#unexplained.set(kind, { request, names, fields })
  }
}

async function minimise(request, isSame) {
  const plain = { ...request, method: 'GET' }
  let best = (await isSame(plain)) ? plain : request
  for (const field of ['headers', 'body', 'target']) {
    const suffices = (part) => isSame({ ...best, [field]: part })
    best = { ...best, [field]: await reduce(best[field], suffices) }
  }
  return best
}
