// The workloads: one request and its expected response for each, the same for every server.

const HEADERS = [
  'Host: 127.0.0.1',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) bench',
  'Accept-Encoding: gzip, deflate, br',
]

const FORM = new URLSearchParams({
  id: '42',
  title: 'The first frost of the year came early',
  slug: 'the-first-frost-of-the-year',
  author: 'Ada Byron & Co.',
  email: 'ada@mail.example',
  section: 'weather',
  tags: 'frost,november,garden',
  published: '2026-11-03T06:30:00Z',
  summary: 'Cold nights, clear mornings: 100 % of the roses are covered',
  draft: 'no',
}).toString()

const CODE_CHALLENGE = 'q3ZbQ0Wn5vYx2rJ8tKfLhM7cUeSdPaGiNo1BzTy4RwE'
const STATE =
  'eyJyZXR1cm4iOiIvbmV3cy9saXN0Iiwibm9uY2UiOiJ6bTlUcFE0a0wyIn0.Vb7xN3pWq1sRt5uYc8dEf0gHj2kLm4nP'
const REDIRECT_URI = 'https://app.example/oauth2/callback'
const SCOPE = 'openid email profile https://www.provider.example/auth/calendar.readonly'
const CLIENT_ID = '408215930617-m2k8v5q1x7c4b9n3z6a0s8d2f5g7h1j4.apps.provider.example'

/** The query string of a sign-in request that a browser sent to the wrong host. Every value is invented. */
const SIGN_IN = new URLSearchParams({
  response_type: 'code',
  client_id: CLIENT_ID,
  redirect_uri: REDIRECT_URI,
  scope: SCOPE,
  state: STATE,
  code_challenge: CODE_CHALLENGE,
  code_challenge_method: 'S256',
  access_type: 'offline',
  prompt: 'select_account',
  dsh: 'S-1094772635:1763708412055183',
  o2v: '2',
  service: 'lso',
  flowName: 'GeneralOAuthFlow',
  flowEntry: 'ServiceLogin',
  ddm: '1',
  opparams: '%3Fauthuser%3D0',
  continue:
    'https://accounts.provider.example/signin/oauth/consent?authuser=unknown' +
    `&part=AJi8hAPq7Yw3xLk0ZtVb&flow=consent&as=S-1094772635&client_id=${CLIENT_ID}` +
    `&redirect_uri=${encodeURIComponent(REDIRECT_URI)}&scope=${encodeURIComponent(SCOPE)}`,
}).toString()

const JSON_TYPE = 'application/json'

const LIST = {
  title: 'GET /news/list among 20 controllers',
  controllers: 20,
  request: get('/news/list', '*/*'),
  expected: { status: 200, type: JSON_TYPE, body: '{"ok":true}' },
}

const ASTRAY = {
  controllers: 20,
  request: get(`/signin/v2/identifier?${SIGN_IN}`, 'text/html,application/xhtml+xml,*/*;q=0.8'),
  // page.js has the expected body.
  expected: { status: 404, type: 'text/html' },
}

/** The content of the file of F1: 10 kB of text. */
export const FILE_TEXT = 'A file of ten thousand bytes, sent again and again.\n'
  .repeat(200)
  .slice(0, 10_000)

/** Each workload by its id. */
export const workloads = {
  W1: LIST,
  W2: {
    title: 'GET /news/view/id/42 with a query',
    controllers: 20,
    request: get('/news/view/id/42?page=2&sort=asc&tag=x', '*/*'),
    expected: {
      status: 200,
      type: JSON_TYPE,
      body: '{"id":"42","page":"2","sort":"asc","tag":"x"}',
    },
  },
  W3: {
    title: 'POST /news/save, a form of 10 fields',
    controllers: 20,
    request: post('/news/save', FORM),
    expected: { status: 200, type: JSON_TYPE, body: '{"count":10}' },
  },
  W4: { ...ASTRAY, title: 'GET /signin/v2/identifier, 404' },
  W4p: {
    ...ASTRAY,
    title: 'W4, and the error action reads the parameters',
    // Only for Portico: the error handlers of the other servers always do.
    readsParameters: true,
  },
  W5: { ...LIST, title: 'W1 among 10,000 controllers', controllers: 10_000 },
  S1: {
    ...LIST,
    title: 'W1 with a sealed session',
    hasSession: true,
  },
  F1: {
    title: 'GET /a.txt, a public file of 10 kB',
    controllers: 20,
    request: get('/a.txt', '*/*'),
    expected: { status: 200, type: 'text/plain', body: FILE_TEXT },
  },
}

/** The workloads that all frameworks run. For them, W4 is W4p too. */
export const frameworkIds = ['W1', 'W2', 'W3', 'W4', 'W5']

/** Returns the bytes of a request. */
export async function requestOf(id) {
  const { request, hasSession } = workloads[id]
  if (!hasSession) return request
  // Loaded when it is needed: every server imports this file when it starts.
  const { sealedSession } = await import('./sealed-session.js')
  return get('/news/list', '*/*', [`Cookie: ${await sealedSession()}`])
}

export const SIGN_IN_TARGET = `/signin/v2/identifier?${SIGN_IN}`

/** Returns the names of the controllers. `news` is in the middle, because some routers search from the first one. */
export function controllerNames(count) {
  return Array.from({ length: count }, (_, i) => (i === count >> 1 ? 'news' : `c${i}`))
}

function get(target, accept, fields = []) {
  return Buffer.from(head('GET', target, [`Accept: ${accept}`, ...fields]))
}

function post(target, body) {
  const type = 'Content-Type: application/x-www-form-urlencoded'
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  return Buffer.from(head('POST', target, ['Accept: */*', type, length]) + body)
}

function head(method, target, headers) {
  return [`${method} ${target} HTTP/1.1`, ...HEADERS, ...headers, '', ''].join('\r\n')
}
