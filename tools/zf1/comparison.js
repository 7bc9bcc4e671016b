import { DIFFERENCES, differing, MODELS, RULES } from './model.js'
import { createPortico } from './portico.js'
import { reduce } from './reduce.js'
import { isSendable } from './requests.js'

const IN_FLIGHT = 32

/** Requests put to Portico, under both rules of names, and to ZF1; and what came of it. */
export class Comparison {
  /** By rule, how many requests there were of each kind. */
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

  /** A minimal request for each way in which Portico went wrong, with what was due and what came. */
  async *examples(most) {
    for (const { request, names, fields } of [...this.#unexplained.values()].slice(0, most)) {
      const isSame = async (each) =>
        isSendable(each) && `${(await this.#judge(each, names)).fields}` === `${fields}`
      const minimal = await minimise(request, isSame)
      yield { names, request: minimal, ...(await this.#judge(minimal, names)) }
    }
  }

  async #add(request) {
    for (const names of RULES) {
      const judgement = await this.#judge(request, names)
      const kinds = await this.#kindsOf(request, names, judgement)
      const counts = this.counts[names]
      for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
      if (judgement.fields.length > 0) this.#keep(request, names, judgement.fields)
    }
  }

  // Portico must be ZF1 with all differences: to be just like ZF1 where it should not is a fault as well.
  async #judge(request, names) {
    const rule = RULES.indexOf(names)
    const [real, due] = await this.#zf1.ask(request, [null, MODELS[rule]])
    const outcome = await this.#portico[rule](request)
    return { real, due, outcome, fields: differing(due, outcome) }
  }

  // Of those explained, also which differences it takes: a set of which none can be left out.
  async #kindsOf(request, names, { real, outcome, fields }) {
    if (fields.length > 0) return ['unexplained']
    if (differing(real, outcome).length === 0) return ['equal']
    const ids = await reduce(DIFFERENCES, async (some) => {
      const [found] = await this.#zf1.ask(request, [{ names, ids: some }])
      return differing(found, outcome).length === 0
    })
    return ['explained', ...ids]
  }

  // Of each kind the shortest.
  #keep(request, names, fields) {
    const kind = `${names} ${fields}`
    const kept = this.#unexplained.get(kind)?.request.target.length ?? Number.POSITIVE_INFINITY
    if (request.target.length < kept) this.#unexplained.set(kind, { request, names, fields })
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
