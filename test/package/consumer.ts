// A program of an application that uses every export. The test compiles it under `strict`, and runs it in an
// empty project with the installed package.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import {
  type Access,
  type Action,
  type BeforeMiddleware,
  type BodyChunks,
  type BodySource,
  type Client,
  ClientGoneError,
  type CloseResult,
  type Controller,
  type ControllerDirectory,
  type Controllers,
  type CookieAttributes,
  channels,
  createLogger,
  createMiddleware,
  createRequestListener,
  type Destination,
  type DispatchError,
  type DispatchMessage,
  defineController,
  del,
  type ErrorHandler,
  type ErrorReport,
  type ErrorType,
  type ExceptionReport,
  FrontController,
  type FrontControllerOptions,
  get,
  type Handler,
  type HeaderLimits,
  type HeaderValue,
  type Hook,
  HttpError,
  type HttpErrorOptions,
  HttpRequest,
  type HttpRequestInit,
  type HttpResponse,
  html,
  type InferOutput,
  incomingMessageOf,
  type JsonOptions,
  type LimitOverrides,
  type Limits,
  type ListenerOptions,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  loadControllers,
  type Markup,
  type Method,
  type Middleware,
  type MiddlewareOptions,
  methods,
  type NamedControllers,
  type NameRule,
  type NestedLimits,
  type NestedValue,
  NoActionError,
  NoControllerError,
  NoRouteError,
  nested,
  type Params,
  type ParamsAction,
  type ParamValue,
  type Plugin,
  type PublicFilesOptions,
  patch,
  post,
  put,
  type RequestHeaders,
  type ResponseBody,
  type ResponseCookies,
  type ResponseHeaders,
  type Returned,
  type Route,
  type RoutePattern,
  type RoutePatterns,
  type Router,
  readJson,
  type SameOriginOptions,
  type ServeOptions,
  ServerClosingError,
  type ServerCounts,
  type ServerLimits,
  type Service,
  type SharedState,
  type StandardSchemaV1,
  sameOrigin,
  serve,
  ThrownValueError,
  type UrlOptions,
  type UrlParams,
  type UrlValue,
  ValidationError,
  type ValidationIssue,
  validateJson,
  validateParams,
  withJson,
  withParams,
  withPublicFiles,
} from 'portico'

import {
  BUCKETS,
  createObserver,
  type ErrorCause,
  type ErrorCount,
  type EventLoopFacts,
  type Exposition,
  type Fault,
  type JournalEntry,
  type JournalParam,
  type LimitCount,
  type LimitName,
  type MinuteCounts,
  type Observer,
  type ObserverListenOptions,
  type ObserverOptions,
  type OperatorServer,
  type ProcessFacts,
  quantile,
  type RequestCount,
  type RouteCounts,
  type RouteKind,
  type ServerFacts,
  type ShapeCount,
  type Snapshot,
  sumSnapshots,
  toMetrics,
  type UnroutedCount,
  watchProcess,
} from 'portico/observe'
import { createSession, type Flash, type Session, type SessionOptions } from 'portico/session'
import {
  type BeginOptions,
  type Claims,
  type ClientAuth,
  type ClientOptions,
  type EndpointOptions,
  type ErrorLink,
  type GuardOptions,
  type Identity,
  type IssuerOptions,
  type ProviderOptions,
  type SignIn,
  type SignInDetails,
  SignInError,
  type SignInFacts,
  type SignInOptions,
  signIn,
  type Tokens,
  type UserFacts,
} from 'portico/sign-in'

declare module 'portico' {
  interface SharedState {
    visits?: number
  }
}

const headers: RequestHeaders = { accept: 'application/json' }
const sent: BodySource = 'a=1'
const init: HttpRequestInit = { method: 'PUT', target: '/news/list', headers, body: sent }

const forbidden: HttpError = new HttpError(403)
assert.equal(forbidden.message, 'Forbidden')

const list: Action = (request, response) => {
  const client: Client = request.client
  const cacheControl: HeaderValue = 'no-store'
  const fields: ResponseHeaders = response.headers.set('Cache-Control', cacheControl)
  const page: Markup = html`<p>${client.address} ${fields.size}</p>`
  response.html(page)
}
const view: Action = (request) => {
  const destination: Destination = { action: 'list' }
  return request.forward(destination)
}
const chunks: Action = (_request, response) => {
  const body: BodyChunks = (async function* () {
    yield 'a'
  })()
  response.body = body
  response.body = new Response('a').body ?? ''
  const kept: ResponseBody = response.body
  assert.ok(typeof kept === 'object')
}
const error: Action = (request, response) => {
  const handler: ErrorHandler | undefined = request.errorHandler
  const type: ErrorType | undefined = handler?.type
  response.status = 500
  response.json({ type })
}
const news: Controller = { list, view, chunks }
const controllers: Controllers = new Map([
  ['news', news],
  ['error', { error }],
])

const reports: ErrorReport[] = []
const moment: Hook = (_request, response) => void response.headers.set('X-Plugin', 1)
const plugin: Plugin = { preDispatch: moment }
const logger: Logger = { info() {}, warn() {}, error() {} }
const limits: Partial<Limits> = { maxFields: 10 }
const names: NameRule = 'zf1'
const router: Router = {
  route({ path }): Route | undefined {
    const [, controller = '', action = ''] = path.split('/')
    return { module: 'default', controller, action }
  },
}
const options: FrontControllerOptions = {
  controllers,
  names,
  router,
  limits,
  logger,
  plugins: [plugin],
  onReport: (report) => void reports.push(report),
}
const front = new FrontController(options)

const messages: DispatchMessage[] = []
channels.dispatch.start.subscribe((message) => void messages.push(message as DispatchMessage))
const routes = new AsyncLocalStorage<string>()
channels.dispatch.start.bindStore(routes, ({ route, method }) => `${method} ${route}`)
const failures: DispatchError[] = []
channels.dispatch.error.subscribe((message) => {
  failures.push((message as DispatchMessage).error as DispatchError)
})

const response: HttpResponse = await front.handle(new HttpRequest(init))
assert.equal(response.body, '<p> 2</p>')
assert.equal((await front.handle(new HttpRequest({ target: '/news/chunks' }))).status, 200)
assert.equal((await front.handle(new HttpRequest({ target: '/nosuch' }))).status, 500)
const report: ExceptionReport | undefined = reports[0]
assert.equal(report?.name, 'NoControllerError')
assert.ok(messages.length > 2)
assert.ok(failures.every(({ name, message }) => name.length > 0 && message.length > 0))

const gone: HttpErrorOptions = { headers: { 'Retry-After': '1' } }
const errors: readonly Error[] = [
  new HttpError(410, 'Gone', gone),
  new NoRouteError(),
  new ServerClosingError(),
  new NoControllerError('a'),
  new NoActionError('a'),
  new ClientGoneError(),
  new ThrownValueError(null, 'null was thrown'),
]
assert.ok(errors.every((each) => each.message !== ''))

const level: LogLevel = 'silent'
const loggerOptions: LoggerOptions = { stream: process.stdout, level }
createLogger(loggerOptions).info({}, 'Nothing')

const handler: Handler = front
const headerLimits: Partial<HeaderLimits> = { maxHeaderFields: 10 }
const before: readonly BeforeMiddleware[] = [(_message, _out, next) => next()]
const listenerOptions: ListenerOptions = { headerLimits, before }
const middlewareOptions: MiddlewareOptions = { ...listenerOptions, fallThrough: true }
const middleware: Middleware = createMiddleware(handler, middlewareOptions)
createServer(createRequestListener(handler, listenerOptions)).close()
createServer((message, out) => middleware(message, out, () => out.end())).close()
assert.equal(incomingMessageOf(new HttpRequest(init)), undefined)

const accesses: Access[] = []
const serverLimits: Partial<ServerLimits> = { maxConnections: 10 }
const serveOptions: ServeOptions = {
  port: 0,
  limits: serverLimits,
  onAccess: (access) => void accesses.push(access),
}
const observerOptions: ObserverOptions = { processFacts: watchProcess('1.0.0') }
const observer: Observer = createObserver(observerOptions)
const service: Service = await serve(front, {
  ...serveOptions,
  onAccess(access) {
    serveOptions.onAccess?.(access)
    observer.onAccess(access)
  },
})
observer.watch(service)
const answer = await fetch(`${service.url}/news/view`, { headers: { connection: 'close' } })
assert.equal(await answer.text(), '<p>127.0.0.1 2</p>')
const closeResult: CloseResult = await service.close()
assert.deepEqual(closeResult, { connections: 0, actions: 0 })
assert.equal(service.closing.aborted, true)
const serviceCounts: ServerCounts = service.counts
assert.equal(serviceCounts.connectionsTotal, 1)
const observerListenOptions: ObserverListenOptions = { port: 0 }
const operatorServer: OperatorServer = await observer.listen(observerListenOptions)
assert.match(await (await fetch(`${operatorServer.url}/metrics`)).text(), /^portico_workers 1$/m)
operatorServer.close()
observer.recordError(new Error('outside'))
const snapshot: Snapshot = sumSnapshots([observer.snapshot(), observer.snapshot()])
const { contentType }: Exposition = toMetrics(snapshot, 'application/openmetrics-text')
assert.equal(contentType, 'application/openmetrics-text; version=1.0.0; charset=utf-8')
const [route]: readonly RouteCounts[] = snapshot.routes
const kind: RouteKind | undefined = route?.kind
const [requestCount]: readonly RequestCount[] = route?.requests ?? []
assert.deepEqual([kind, route?.route, requestCount?.count], ['route', 'news/view', 2])
assert.ok((quantile(route?.buckets ?? [], 0.5) ?? 0) <= (BUCKETS.at(-1) ?? 0))
const [errorCount]: readonly ErrorCount[] = snapshot.errors
const errorCause: ErrorCause | undefined = errorCount?.cause
assert.equal(errorCause, 'process')
assert.deepEqual(errorCount, {
  cause: 'process',
  type: 'EXCEPTION_OTHER',
  route: '',
  count: 2,
})
const [limitCount]: readonly LimitCount[] = snapshot.limits
const limitName: LimitName | undefined = limitCount?.name
const [unroutedCount]: readonly UnroutedCount[] = snapshot.unrouted
const [minute]: readonly MinuteCounts[] = snapshot.minutes
const [fault]: readonly Fault[] = snapshot.faults
const [entry]: readonly JournalEntry[] = snapshot.journal
const [journalParam]: readonly JournalParam[] = entry?.params ?? []
const [shape]: readonly ShapeCount[] = journalParam?.shapes ?? []
assert.deepEqual([limitName, unroutedCount, shape], [undefined, undefined, undefined])
assert.deepEqual([fault?.status, fault?.count, entry], [500, 2, undefined])
assert.equal(minute?.requests, 2)
const serverFacts: ServerFacts = snapshot.server
const processFacts: ProcessFacts = snapshot.process
const eventLoop: EventLoopFacts = processFacts.eventLoop
assert.deepEqual([serverFacts.connections, eventLoop.max >= 0], [0, true])

const here = fileURLToPath(new URL('controllers', import.meta.url))
const directory: ControllerDirectory = await loadControllers(here)
assert.deepEqual([...directory.controllers.keys()], ['hello'])
const reading: readonly Method[] = ['GET', 'POST']
const jsonOptions: JsonOptions = { maxBytes: 10 }
const issues = [{ message: 'Expected an "id"', path: ['id'] }]
const schema: StandardSchemaV1<unknown, { id: number }> = {
  '~standard': {
    version: 1,
    vendor: 'none',
    validate(value) {
      const { id } = value as { id?: string }
      return id === undefined ? { issues } : { value: { id: Number(id) } }
    },
  },
}
const withId: ParamsAction<InferOutput<typeof schema>> = (_request, answer, { id }) =>
  answer.json(id + 1)
const written = {
  any: methods(reading, list),
  read: get(list),
  save: post(async (request, answer) => answer.json(await readJson(request, jsonOptions))),
  replace: put(list),
  change: patch(list),
  remove: del(list),
  next: withParams(schema, withId),
} satisfies Record<string, Action>
const typed = new FrontController({
  controllers: new Map([['typed', defineController(written)]]),
})
assert.equal((await typed.handle(new HttpRequest({ target: '/typed/next/id/1' }))).body, '2')
const asked = new HttpRequest({ target: '/typed/next' })
const wrong = await validateParams(asked, schema).catch((thrown: unknown) => thrown)
assert.ok(wrong instanceof ValidationError)
// The reports show the names of classes: the bundle must not rename them.
assert.equal(HttpError.name, 'HttpError')
const found: readonly ValidationIssue[] = wrong.issues
assert.equal(found[0]?.path, 'id')
const parameter: ParamValue<'id'> = asked.param('id')
assert.equal(parameter, undefined)

const article: RoutePattern = {
  path: '/article/:id',
  defaults: { controller: 'typed', action: 'next' },
}
const patterns: RoutePatterns = { article }
const urlOptions: UrlOptions = { name: 'article', reset: true }
const urlValue: UrlValue = 41
const urlParams: UrlParams = { id: urlValue }
const linking = new FrontController({
  controllers: new Map([
    [
      'typed',
      { next: get((request, answer) => answer.text(request.urlFor(urlParams, urlOptions))) },
    ],
  ]),
  routes: patterns,
})
const linked = await linking.handle(new HttpRequest({ target: '/article/7' }))
assert.equal(linked.body, '/article/41')

const limitOverrides: Partial<LimitOverrides> = { maxBodyBytes: 10 }
const upload = Object.assign((...[, answer]: Parameters<Action>): Returned => answer, {
  limits: limitOverrides,
})
const sameOriginOptions: SameOriginOptions = { origins: ['https://admin.example'] }
const cookieAttributes: CookieAttributes = { maxAgeSeconds: 60 }
const nestedLimits: Partial<NestedLimits> = { maxDepth: 2 }
const publicFilesOptions: PublicFilesOptions = { cacheControl: 'no-cache' }
const named: NamedControllers = {
  app: {
    upload,
    state(request, answer) {
      const state: SharedState = request.state
      state.visits = 1
      const params: Params = request.params
      const cookies: ResponseCookies = answer.cookies.set('a', '1', cookieAttributes)
      const value: NestedValue = nested(request.query, nestedLimits)
      return answer.json([Object.keys(state), params.id, cookies === answer.cookies, value])
    },
    json: withJson(schema, withId),
    later: async (request, answer) => answer.json(await validateJson(request, schema)),
  } satisfies Record<string, Action>,
}
const application = new FrontController({
  controllers: named,
  plugins: [sameOrigin(sameOriginOptions)],
  headers: { 'X-Frame-Options': 'DENY' },
})
const withFiles = withPublicFiles(application, here, publicFilesOptions)
const stated = await withFiles.handle(new HttpRequest({ target: '/app/state/id/1?a[b]=2' }))
assert.equal(stated.body, '[["visits"],"1",true,{"a":{"b":"2"}}]')
const crossSite = new HttpRequest({ method: 'POST', target: '/app/upload' })
assert.equal((await withFiles.handle(crossSite)).status, 403)

const sessionOptions: SessionOptions = {
  origin: 'https://news.example',
  secrets: [process.env.SECRET ?? 'x'.repeat(32)],
}
// The packages that a subpath needs are not installed here.
assert.throws(() => createSession(sessionOptions), {
  message: 'portico/session needs "jose": npm install jose',
})
export async function count(session: Session<{ count: number }>): Promise<Flash<string>> {
  const response = await front.handle(new HttpRequest(init))
  const { count } = (await session.read(new HttpRequest(init))) ?? { count: 0 }
  await session.write(response, { count: count + 1 })
  return session.flash
}
const clientAuth: ClientAuth = 'post'
const client: ClientOptions = { clientId: 'id', clientSecret: 'secret', clientAuth }
const google: IssuerOptions = { ...client, issuer: 'https://accounts.google.com' }
const github: EndpointOptions = {
  authorizationEndpoint: 'https://github.com/login/oauth/authorize',
  tokenEndpoint: 'https://github.com/login/oauth/access_token',
  userinfoEndpoint: 'https://api.github.com/user',
  clientId: 'id',
  clientSecret: 'secret',
  identify(user: Claims): UserFacts {
    return { subject: user.id && String(user.id), name: user.login }
  },
}
const providers: Record<string, ProviderOptions> = { google, github }
const signInOptions: SignInOptions<{ roles: string[] }> = {
  ...sessionOptions,
  providers,
  onSignIn(identity: Identity, { claims, tokens }: SignInDetails) {
    const both: [Claims, Tokens] = [claims, tokens]
    return { roles: [identity.subject, String(both.length)] }
  },
}
assert.throws(() => signIn(signInOptions), {
  message:
    'portico/sign-in needs "oauth4webapi", "jose", "undici": npm install oauth4webapi jose undici@7',
})
export async function use(auth: SignIn<{ roles: string[] }>): Promise<ErrorLink | undefined> {
  const guardOptions: GuardOptions = { provider: 'github' }
  const beginOptions: BeginOptions = { continue: '/admin' }
  auth.guard((request) => request.module === 'admin', guardOptions)
  auth.url('google', beginOptions)
  const identity = await auth.identity(asked)
  const roles: string[] | undefined = identity?.data?.roles
  return roles && auth.link(asked)
}
const facts: SignInFacts = { provider: 'google', step: 'token', fault: 'too late' }
assert.deepEqual({ ...new SignInError(504, 'Too late', facts).signIn }, facts)

console.log('Every export works')
