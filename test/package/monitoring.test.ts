import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { toMetrics } from '../../lib/observe/exposition.ts'
import { limitsByStatus } from '../../lib/observe/recorder.ts'
import type { ErrorCause, RequestCount } from '../../lib/observe/snapshot.ts'
import type { SignInHint } from '../../lib/reporting/sign-in-hint.ts'
import { samplesOf } from '../support/metrics.ts'
import { repositoryFile } from '../support/repository.ts'
import { createRoute, createSnapshot } from '../support/snapshot.ts'

interface Panel {
  readonly id: number
  readonly title: string
  readonly datasource?: { readonly uid: string }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly {
      readonly name: string
      readonly query: string | { readonly query: string }
    }[]
  }
}

/** An expression of PromQL, and the labels that a text shows of its result. */
interface Query {
  readonly expr: string
  readonly shown: readonly string[]
}

const CONFIG = 'deploy/prometheus/prometheus.yml'
const RULES = 'deploy/prometheus/portico.rules.yml'

// Prometheus adds them to each sample.
const TARGET_LABELS = ['job', 'instance']
const STRING = /"(?:[^"\\]|\\.)*"/g
const WORDS = new Set(['and', 'or', 'unless', 'offset', 'by', 'without', 'on', 'ignoring', 'bool'])

/** The values of each label, by the name of the metric. */
const metrics = metricsOf()

describe('The files for Prometheus and Grafana', () => {
  const config = readText(CONFIG)
  const rules = readText(RULES)
  const dashboard: Dashboard = JSON.parse(readText('deploy/grafana/portico.json'))
  const alerts = rules.split(/^ +- alert: /m).slice(1)
  const targets = dashboard.panels.flatMap((panel) => panel.targets ?? [])

  it('name only metrics, labels and values that the program exports', () => {
    const queries = [
      ...alerts.map((alert) => ({
        expr: exprOf(alert),
        shown: labelsIn(alert, /\$labels\.(\w+)/g),
      })),
      ...targets.map(({ expr, legendFormat }) => ({
        expr,
        shown: labelsIn(legendFormat, /\{\{(\w+)\}\}/g),
      })),
      ...dashboard.templating.list.flatMap(({ query }) => {
        const [, expr = '', label = ''] =
          typeof query === 'string' ? [] : (/^label_values\((.*), (\w+)\)$/.exec(query.query) ?? [])
        return expr === '' ? [] : [{ expr, shown: [label] }]
      }),
    ]
    assert.ok(queries.length > 30, `${queries.length} queries`)
    assert.deepEqual(queries.flatMap(problemsOf), [])
  })

  it('select the job of the scrape configuration', () => {
    const [, job = ''] = /^ +- job_name: (\w+)$/m.exec(config) ?? []
    const exprs = [...alerts.map(exprOf), ...targets.map(({ expr }) => expr)]
    for (const expr of exprs) {
      const jobs = Array.from(expr.matchAll(/\{job="(\w+)"/g), ([, name]) => name)
      assert.deepEqual([...new Set(jobs)], [job], expr)
      assert.equal(jobs.length, selectorsOf(expr).length, expr)
    }
    assert.ok(config.includes(`rule_files: [${RULES.replace(/.*\//, '')}]`))
  })

  it('have a summary and a description of each alert', () => {
    const names = alerts.map((alert) => alert.slice(0, alert.indexOf('\n')))
    assert.equal(new Set(names).size, alerts.length)
    for (const alert of alerts) {
      for (const key of ['severity', 'summary', 'description']) {
        assert.match(alert, new RegExp(`\\b${key}: \\S`), alert)
      }
    }
  })

  it('give each panel an id, and the data source of the variable', () => {
    const { panels, templating } = dashboard
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    assert.ok(templating.list.some(({ name }) => name === 'datasource'))
    for (const { title, targets, datasource } of panels) {
      if (targets !== undefined) assert.equal(datasource?.uid, `\${datasource}`, title)
    }
  })

  const isMissing = spawnSync('promtool', ['--version']).error !== undefined
  it('are accepted by promtool', { skip: isMissing && 'promtool is not installed' }, () => {
    for (const [kind, file] of [
      ['config', CONFIG],
      ['rules', RULES],
    ] as const) {
      const args = ['check', kind, repositoryFile(file)]
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
      assert.equal(status, 0, stdout + stderr)
    }
  })

  it('are checked by a test that finds wrong names, labels and values', () => {
    for (const [expr, problem] of [
      ['rate(portico_request_total[5m])', 'portico_request_total'],
      ['sum by (path) (portico_requests_total)', 'path'],
      ['portico_requests_total{code="500"}', 'portico_requests_total code'],
      ['portico_requests_total{status=~"5xx|500"}', 'portico_requests_total status="500"'],
      ['portico_request_duration_seconds', 'portico_request_duration_seconds'],
      ['time() - portico_workers > 1 and http_requests offset 5m', 'http_requests'],
    ] as const) {
      assert.deepEqual(problemsOf({ expr, shown: [] }), [problem])
    }
    const query = { expr: 'sum by (route) (portico_requests_total)', shown: ['route', 'status'] }
    assert.deepEqual(problemsOf(query), ['status'])
  })
})

function problemsOf({ expr, shown }: Query): readonly string[] {
  const selectors = selectorsOf(expr)
  const exported = selectors.flatMap(({ name }) => Object.keys(metrics.get(name) ?? {}))
  const known = new Set([...exported, ...TARGET_LABELS])
  const grouped = Array.from(expr.matchAll(/\b(?:by|on|without|ignoring) \(([^)]*)\)/g)).flatMap(
    ([, list = '']) => list.split(', '),
  )
  const result = expr.includes('by (') ? new Set(grouped) : known
  return [
    ...selectors.flatMap(selectorProblems),
    ...grouped.filter((label) => !known.has(label)),
    ...shown.filter((label) => !result.has(label)),
  ]
}

interface Selector {
  readonly name: string
  readonly matchers: string
}

function selectorProblems({ name, matchers }: Selector): readonly string[] {
  const labels = metrics.get(name)
  if (labels === undefined) return [name]
  return Array.from(matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)).flatMap(
    ([, label = '', text = '']) => {
      if (TARGET_LABELS.includes(label)) return []
      const values = labels[label]
      if (values === undefined) return [`${name} ${label}`]
      const wrong = text.split('|').filter((value) => !values.has(value))
      return wrong.map((value) => `${name} ${label}="${value}"`)
    },
  )
}

// Returns what is neither a function, a keyword, a label, a duration nor a string.
function selectorsOf(expr: string): readonly Selector[] {
  const plain = expr
    .replace(/\b(?:by|on|without|ignoring) \([^)]*\)/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\boffset \w+/g, '')
  return Array.from(plain.matchAll(/\b([a-zA-Z_]\w*)\b(?! *\()(?:\{([^}]*)\})?/g))
    .filter(({ index }) => !isWithinBraces(plain, index))
    .map(([, name = '', matchers = '']) => ({ name, matchers }))
    .filter(({ name }) => !WORDS.has(name))
}

function isWithinBraces(text: string, index: number): boolean {
  const before = text.slice(0, index).replace(STRING, '')
  return before.lastIndexOf('{') > before.lastIndexOf('}')
}

// An expression is on the line of its key, or a block of lines that are indented below it.
function exprOf(alert: string): string {
  const [, line = '', block = ''] = /^ +expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/m.exec(alert) ?? []
  return line || block
}

function labelsIn(text: string, pattern: RegExp): readonly string[] {
  return Array.from(text.matchAll(pattern), ([, label = '']) => label)
}

// Returns the metrics of a snapshot that has each label.
function metricsOf(): ReadonlyMap<string, Readonly<Record<string, Set<string>>>> {
  const kinds: readonly SignInHint['looksLike'][] = [
    'authorization request',
    'callback',
    'provider page',
  ]
  const causes: readonly ErrorCause[] = ['client', 'server', 'process']
  const classes: readonly RequestCount['statusClass'][] = [1, 2, 3, 4, 5]
  const requests = classes.map((statusClass) => ({ method: 'GET', statusClass, count: 1 }))
  const snapshot = createSnapshot({
    routes: [
      { ...createRoute('news/list', 5), requests },
      { ...createRoute('', 1), kind: 'unrouted' },
    ],
    errors: ['news/list', ''].flatMap((route) =>
      causes.map((cause) => ({ cause, type: 'EXCEPTION_OTHER', route, count: 1 })),
    ),
    unrouted: kinds.map((kind) => ({ kind, count: 1 })),
    limits: [...limitsByStatus.values(), 'connections' as const].map((name) => ({
      name,
      count: 1,
    })),
  })
  const found = new Map<string, Record<string, Set<string>>>([['up', {}]])
  for (const { name, labels } of samplesOf(toMetrics(snapshot).text)) {
    const known = found.get(name) ?? {}
    for (const [label, value] of Object.entries(labels)) {
      known[label] = (known[label] ?? new Set()).add(value)
    }
    found.set(name, known)
  }
  return found
}

function readText(file: string): string {
  return readFileSync(repositoryFile(file), 'utf8')
}
