import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { DevelopmentDetails } from '../../lib/controllers/development-details.ts'
import { loadControllers } from '../../lib/controllers/load-controllers.ts'
import { checkedOptions } from '../../lib/dispatch/checked-options.ts'
import { createDetails } from '../../lib/dispatch/development.ts'
import { Dispatcher } from '../../lib/dispatch/dispatcher.ts'
import { withMaps } from '../../lib/dispatch/options.ts'
import { HttpError, NoActionError, NoControllerError } from '../../lib/http/errors.ts'
import { HttpRequest, type HttpRequestInit } from '../../lib/index.ts'
import { nameKeys } from '../../lib/routing/name-rules.ts'
import { RequestRouter } from '../../lib/routing/request-router.ts'
import { createFolder } from '../support/folder.ts'

const save = Object.assign(() => {}, { methods: ['POST'] })
const news = { list() {}, index() {}, save }
const admin = new Map([['report', { daily() {} }]])

interface Setup {
  readonly init?: Partial<HttpRequestInit>
  readonly showValues?: boolean
  readonly controllers?: ReadonlyMap<string, object>
}

function develop(target: string, exception: Error, setup: Setup = {}): DevelopmentDetails {
  const { init, showValues = false, controllers = new Map([['news', news]]) } = setup
  const options = { controllers, modules: new Map([['admin', admin]]), basePath: '/app' }
  const checked = checkedOptions(withMaps(options), { error() {} })
  const router = new RequestRouter(checked)
  const dispatcher = new Dispatcher(checked.modules, nameKeys.exact)
  const site = { ...checked, router, dispatcher }
  const detailsOf = createDetails({ logParams: new Set(), showValues, getSite: () => site })
  return detailsOf(router.route(new HttpRequest({ target: `/app${target}`, ...init })), exception)
}

describe('createDetails()', () => {
  it('returns the report, and what a client can request', () => {
    const { report, routes } = develop('/nwes/list', new NoControllerError('nwes'))
    assert.deepEqual([report.status, report.type], [404, 'EXCEPTION_NO_CONTROLLER'])
    assert.equal(report.message, 'Invalid controller specified (nwes)')
    assert.deepEqual(routes, [
      { name: 'news/list', url: '/app/news/list', methods: null },
      { name: 'news/index', url: '/app/news', methods: null },
      { name: 'news/save', url: '/app/news/save', methods: ['POST', 'OPTIONS'] },
      { name: 'admin/report/daily', url: '/app/admin/report/daily', methods: null },
    ])
  })

  it('returns the action with the most similar name', () => {
    const nearest = (target: string, exception: Error): string | undefined =>
      develop(target, exception).nearest?.name
    assert.equal(nearest('/nwes/list', new NoControllerError('nwes')), 'news/list')
    assert.equal(nearest('/nwes', new NoControllerError('nwes')), 'news/index')
    assert.equal(nearest('/news/lsit', new NoActionError('lsit')), 'news/list')
    assert.equal(nearest('/admin/report/dayly', new NoActionError('dayly')), 'admin/report/daily')
    assert.equal(nearest('/news/list', new Error('x')), undefined)
    assert.equal(nearest('/signin/v2', new NoControllerError('signin')), undefined)
  })

  it('returns a scrubbed report with the stack, also for a 4xx', () => {
    for (const exception of [new Error('no c4n4ry'), new HttpError(403, 'no c4n4ry')]) {
      const { report } = develop('/news/list?dsh=c4n4ry', exception)
      assert.equal(report.message, 'no [dsh]')
      assert.match(report.stack?.[0] ?? '', /development\.test\.js/)
    }
  })

  it('separates the frames of the application, and reads the code around them', () => {
    const { exception } = develop('/news/list', new Error('x', { cause: new Error('y') }))
    for (const each of [exception, exception.previous]) {
      const [frame] = each?.frames ?? []
      assert.match(frame?.file ?? '', /^(?:dist\/)?test\/dispatch\/development\.test\.js$/)
      const code = frame?.excerpt.find(({ line }) => line === frame.line)?.text
      assert.match(code ?? '', /new Error\('x', \{ cause: new Error\('y'\) \}\)/)
      assert.ok(each?.otherFrames.some((other) => other.includes('node:internal')))
      assert.ok(each?.frames.every(({ file }) => !file.startsWith('..')))
    }
  })

  it('reads the code next to a folder of controllers outside the current folder', async (t) => {
    const folder = createFolder(t, {
      'package.json': '{"type":"module"}',
      'store.js': "export function find() {\n  throw new Error('not found')\n}\n",
      'site/news.js': "import { find } from '../store.js'\nexport const view = () => find()\n",
    })
    const { controllers } = await loadControllers(join(folder, 'site'))
    const view = Reflect.get(controllers.get('news') ?? {}, 'view')
    const { exception } = develop('/news/view', thrownBy(view), { controllers })
    const [find, caller] = exception.frames
    assert.deepEqual([find?.name, find?.file, find?.line], ['find', 'store.js', 2])
    assert.deepEqual(find?.excerpt[1], { line: 2, text: "  throw new Error('not found')" })
    assert.deepEqual([caller?.file, caller?.line], [join('site', 'news.js'), 2])
  })

  it('reads no file that a forged stack names, unless it is code of the application', (t) => {
    const folder = createFolder(t, { 'secret.js': 'const key = 1' })
    const forged = new Error('x')
    forged.stack = [
      'Error: x',
      `    at a (${pathToFileURL(join(folder, 'secret.js'))}:1:1)`,
      '    at b (file:///etc/passwd:1:1)',
      `    at c (${pathToFileURL('package.json')}:1:1)`,
    ].join('\n')
    const { frames, otherFrames } = develop('/news/list', forged).exception
    assert.deepEqual([frames, otherFrames.length], [[], 3])
  })

  it('scrubs the code too', () => {
    const { exception } = develop('/news/list?dsh=c4n4ry-in-the-code', new Error('x'))
    const code = exception.frames[0]?.excerpt.map(({ text }) => text).join('\n') ?? ''
    assert.match(code, /develop\('\/news\/list\?dsh=\[dsh\]'/)
  })

  it('reads the code of the first frames only', () => {
    const errors = Array.from({ length: 3 }, () => new Error('x', { cause: new Error('y') }))
    const details = develop('/news/list', new AggregateError(errors, 'many'))
    const read = JSON.stringify(details.exception).match(/"excerpt":\[\{/g) ?? []
    assert.equal(read.length, 6)
  })

  describe('with "showValues"', () => {
    const local = { headers: { host: 'localhost:3000' }, remoteAddress: '127.0.0.1' }
    const valuesFor = (init: Partial<HttpRequestInit>): unknown =>
      develop(`/news/list/id/4%0A2?dsh=S1&long=${'x'.repeat(999)}`, new Error('x'), {
        init,
        showValues: true,
      }).values

    it('returns the values of the parameters to a client on this machine', () => {
      assert.deepEqual(valuesFor(local), [
        ['dsh', 'S1'],
        ['long', 'x'.repeat(400)],
        ['id', '4\\u000a2'],
      ])
    })

    it('returns none to any other client', () => {
      const proxied = { ...local, headers: { ...local.headers, 'x-forwarded-for': '10.0.0.1' } }
      for (const init of [{}, { ...local, remoteAddress: '10.0.0.1' }, proxied]) {
        assert.equal(valuesFor(init), undefined)
      }
    })

    it('still scrubs the message and the report', () => {
      const { report, exception } = develop('/news/list?dsh=c4n4ry', new Error('no c4n4ry'), {
        init: local,
        showValues: true,
      })
      assert.deepEqual([report.message, exception.message], ['no [dsh]', 'no [dsh]'])
      assert.deepEqual({ ...report.params }, { dsh: 'token(6)' })
    })
  })

  it('returns no values without "showValues"', () => {
    const init = { headers: { host: 'localhost' }, remoteAddress: '127.0.0.1' }
    assert.equal(develop('/news/list?dsh=S1', new Error('x'), { init }).values, undefined)
  })
})

function thrownBy(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  throw new Error('Nothing was thrown')
}
