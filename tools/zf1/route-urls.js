// Compares a URL of Portico with the one that ZF1 assembles. A difference is explained only by a fact: ZF1 routes and
// assembles URLs again, and the model with the differences does too.

const NAMES = { module: 'default', controller: 'index', action: 'index' }
// A request that no generated route with a regex matches.
const ELSEWHERE = '/~/~/~/~/~/~/~'

/**
 * Returns the kind of a comparison, `unexplained` if no fact explains a difference.
 *
 * @param ask Runs a job in ZF1 with each of the sets of differences; null for ZF1 without changes.
 * @param ids All differences.
 */
export async function compareUrls(facts) {
  const { portico, job, real, isSame } = facts
  const { routes, request, url } = job
  const { found, problem } = portico.urlFor(request, url)
  const current = portico.route(request)
  const outcome = { found: found ?? null, problem }
  // Portico checks each of its URLs; here it is checked again.
  const fault = found && missOf({ routes, url, current, place: placeOf(portico, found, request) })
  if (fault) return { kind: 'unexplained', ...outcome, fault }
  if (found !== undefined && real.url !== undefined && normal(found) === normal(real.url)) {
    return { kind: 'equal', ...outcome }
  }
  if (found === undefined && real.url === undefined) return { kind: 'both throw', ...outcome }
  const kind = (await kindOf({ ...facts, found, problem })) ?? 'unexplained'
  const isOther = !isSame(current, real) && !(url.reset && url.name !== null)
  const kindOrOther = kind === 'unexplained' && isOther ? 'of another request' : kind
  return { kind: kindOrOther, ...outcome }
}

async function kindOf(facts) {
  const { job, real, found, problem, ask, ids } = facts
  const { routes, url, request } = job
  if (real.url === undefined) return kindOfThrow(facts)
  const back = requestOf(real.url, request)
  if (back === undefined) return 'X43: no path'
  const route = async (set) => {
    const [place] = await ask({ routes, request: back }, [set])
    return missOf({ routes, url, current: real, place, isStrict: found === undefined })
  }
  const miss = await route(null)
  if (miss !== undefined) {
    const isOfRequest = await dependsOnRequest(facts)
    if (isOfRequest && url.reset) return 'X39: kept in spite of reset'
    if (isOfRequest && miss.isExtra) return 'X40: kept from no match'
    return `${miss.isDropped ? 'X41' : 'X43'}: ${miss.what}`
  }
  if (await route(ids)) return `by ${(await neededIds(ids, route)).join(', ')}`
  if (found !== undefined) return 'X42: another form'
  if (await isShortHost(back, facts)) return 'X34: a host without its last label'
  const links = linksOf(routes, url.name ?? real.route)
  const isHidden = links.some((link, i) =>
    variablesOf(link).some((key) => isSetBy(links.slice(i + 1), key)),
  )
  if (isHidden) return 'X41: hidden by a default'
  const isElsewhere = async (changed, params = url.params) => {
    const [outcome] = await ask({ routes, request: requestOf(changed, request) }, [null])
    const asked = { ...url, params }
    return (
      missOf({ routes, url: asked, current: real, place: outcome, isStrict: true }) !== undefined
    )
  }
  // Without a last key that has no value, which ZF1 writes with an empty one.
  const short = real.url.replace(/\/[^/]+\/?$/, '')
  if (real.url.endsWith('/') && (await isElsewhere(short))) return 'X12: a key without a value'
  // With the parameters of the request before the others, as Portico writes them.
  const kept = Object.fromEntries(real.params.map(([key, [value]]) => [key, value]))
  // JavaScript moves numbers to the start.
  const named = Object.entries(url.params).map(([key, value]) => [key.replace(/^\d/, 'n$&'), value])
  const params = { ...kept, ...Object.fromEntries(named) }
  const [{ url: ordered }] = await ask({ ...job, url: { ...url, params } }, [null])
  if (ordered !== undefined && (await isElsewhere(ordered, params)))
    return 'X43: in the other order'
  const [place] = await ask({ routes, request: back }, [null])
  const isEmpty = place.params.some(
    ([key, [value]]) => problem.endsWith(`needs "${key}"`) && value === '',
  )
  return isEmpty && /\/(?:\/|$)/.test(back.target) ? 'X41: an empty segment' : undefined
}

function isSetBy(links, key) {
  return links.some((link) => variablesOf(link).includes(key) || key in (link.defaults ?? {}))
}

// ZF1 throws, Portico does not.
async function kindOfThrow({ portico, job, real, found, ask }) {
  const { routes, request, url } = job
  const variables = linksOf(routes, url.name ?? real.route).flatMap(variablesOf)
  // ZF1 does not throw when the values of all variables are given.
  const place = placeOf(portico, found, request)
  const values = new Map([
    ...place.params.map(([key, [value]]) => [key, value]),
    ...Object.keys(NAMES).map((key) => [key, place[key]]),
  ])
  const given = Object.fromEntries(variables.map((key) => [key, values.get(key)]))
  const assemble = async (params) => (await ask({ ...job, url: { ...url, params } }, [null]))[0].url
  const assembled = await assemble({ ...url.params, ...given })
  if (assembled !== undefined) return 'X44: a default of another'
  // The number of a group that has a name.
  const numbers = Object.entries(url.params).filter(
    ([key, value]) => /^\d+$/.test(key) && value === null,
  )
  const others = Object.fromEntries(
    Object.entries(url.params).filter(([key]) => !numbers.some(([each]) => each === key)),
  )
  if (numbers.length > 0 && (await assemble(others)) !== undefined)
    return 'X44: a group by its number'
  if (place.route !== (url.name ?? real.route)) return 'X44: the URL of another route'
  return new Set(variables).size < variables.length ? 'X44: a variable twice' : undefined
}

// Whether the URL with the whole host, as Portico writes it, leads elsewhere in ZF1.
async function isShortHost(back, { job, real, ask }) {
  const { routes, url } = job
  const links = linksOf(routes, url.name ?? real.route)
  const { host } = links.findLast(({ host }) => host) ?? {}
  if (!host || back.host.split('.').length >= host.split('.').length) return false
  const [short] = await ask({ routes, request: back }, [null])
  const values = new Map(short.params.map(([key, [value]]) => [`:${key}`, value]))
  const labels = host.split('.').map((label) => values.get(label) ?? label)
  const [whole] = await ask({ routes, request: { ...back, host: labels.join('.') } }, [null])
  return whole.route !== short.route
}

// Whether the URL of ZF1 has values of the request, although it is of another route, or is to be without them.
async function dependsOnRequest({ job, real, ask }) {
  const { request, url } = job
  if (!url.reset && (url.name === null || url.name === real.route)) return false
  const other = {
    ...job,
    request: { ...request, target: ELSEWHERE },
    url: { ...url, name: url.name ?? real.route },
  }
  const [{ url: assembled }] = await ask(other, [null])
  return assembled !== real.url
}

async function neededIds(ids, route) {
  let needed = ids
  // X3 before those that only change its effect.
  for (const id of ids.toReversed()) {
    const others = needed.filter((each) => each !== id)
    if (await route(others)) needed = others
  }
  return needed
}

function placeOf(portico, url, request) {
  const back = requestOf(url, request)
  return back === undefined ? { error: 'no path' } : portico.route(back)
}

// Returns the request of a client for a URL.
function requestOf(url, request) {
  const [, scheme = request.scheme, host = request.host, path] =
    /^(?:([a-z]+):\/\/([^/]*))?(.*)$/s.exec(url) ?? []
  const target = encodeURI(path || '/').replaceAll('%25', '%')
  if (!target.startsWith('/') || target.startsWith('//')) return undefined
  return { ...request, method: 'GET', override: '', target, host, scheme }
}

// Returns why a place is not the one of the names and parameters of a URL; undefined if it is.
function missOf({ routes, url: { params, name, reset }, current, place, isStrict = false }) {
  if (place.error) return { what: 'no route' }
  const route = name ?? current.route
  const links = linksOf(routes, route)
  const common = reset ? [] : linksOf(routes, current.route).filter((each) => links.includes(each))
  const shared = common.flatMap(variablesOf)
  // A parent's value that a child hides is in no outcome.
  const others = linksOf(routes, current.route).filter((each) => !links.includes(each))
  const isShared = (key, value, now) =>
    shared.includes(key) && !(key in params) && (value === now || isSetBy(others, key))
  const defaults = new Map(links.flatMap(defaultsOf))
  const isKept = (key) => route === current.route && !reset && !(key in params)
  const before = new Map(current.params.map(([key, [value]]) => [key, value]))
  const wanted = new Map([
    ...[...before].filter(([key]) => isKept(key)),
    ...Object.entries(params).filter(([, value]) => value !== null),
  ])
  const isElsewhere = place.route !== route && { what: 'another route' }
  const isRest = links.at(-1)?.rest !== undefined
  for (const key of Object.keys(NAMES)) {
    const asked = params[key] ?? (isKept(key) ? current[key] : undefined)
    const value = asked ?? (defaults.get(key) || NAMES[key])
    if (isRest && key === 'action' && value !== 'new' && value !== 'edit') {
      // A REST URL names the resource.
      if (place.action === 'index' || place.action === 'get') continue
    }
    if (place[key] === value || isShared(key, place[key], current[key])) continue
    return isElsewhere || { what: `the ${key}`, isDropped: key in params }
  }
  const values = new Map(place.params.map(([key, [value]]) => [key, value]))
  for (const [key, value] of wanted) {
    if (key in NAMES || values.get(key) === value) continue
    return (
      isElsewhere || { what: values.has(key) ? 'another value' : 'a parameter', isDropped: true }
    )
  }
  for (const [key, value] of values) {
    if (wanted.get(key) === value || defaults.get(key) === value) continue
    if (isShared(key, value, before.get(key))) continue
    return isElsewhere || { what: 'one more parameter', isExtra: true }
  }
  for (const [key, value] of defaults) {
    if (key in NAMES || value === null || values.has(key)) continue
    return isElsewhere || { what: 'a default', isDropped: true }
  }
  // Portico returns a URL that leads to the same place by another route, if there is no other.
  return (isStrict && isElsewhere) || undefined
}

function linksOf(routes, name) {
  const pattern = new Map(routes).get(name)
  return pattern === undefined ? [] : [...linksOf(routes, pattern.under), pattern]
}

// Zend_Rest_Route always has the three names.
function defaultsOf({ rest, defaults }) {
  return Object.entries({ ...(rest ? NAMES : {}), ...defaults })
}

function variablesOf({ path = '', host = '', regex = '', map = {} }) {
  const names = [...`${path}.${host}`.matchAll(/:([\w-]+)/g)].map(([, name]) => name)
  const numberOf = new Map(Object.entries(map).filter(([, group]) => typeof group === 'number'))
  const groups = [...regex.matchAll(/\((?!\?)/g)].map((_, i) => {
    const [name] = [...numberOf].find(([, group]) => group === i + 1) ?? []
    return name ?? map[i + 1] ?? String(i + 1)
  })
  return [...names, ...groups]
}

// Without the encoding, and the slash at the end.
function normal(url) {
  const decode = (text) => decodeURIComponent(text.replaceAll('+', ' '))
  return url.replace(/\/+$/, '').split('/').map(decode).join('\n')
}
