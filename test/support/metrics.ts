/** A sample of a text of metrics. */
export interface ReadSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  info: ['_info'],
  histogram: ['_bucket', '_count', '_sum', '_created'],
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y
// What promtool regards as no base unit.
const OTHER_UNIT =
  /_(?:ms|milliseconds|microseconds|nanoseconds|minutes|hours|days|kb|kilobytes|mb|megabytes|percent|bits)(?:_|$)/

/** Reads the samples of a text of metrics. */
export function samplesOf(text: string): readonly ReadSample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readSample)
}

/** Returns the sum of the samples that have a name and these labels. */
export function sumOf(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return samplesOf(text)
    .filter((sample) => sample.name === name)
    .filter((sample) =>
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
}

/** Checks a text of metrics as `promtool check metrics` does, and as OpenMetrics 1.0.0 demands if it ends with `# EOF`. */
export function problemsOf(text: string): readonly string[] {
  const isOpen = text.endsWith('\n# EOF\n')
  const problems: string[] = []
  const check = (holds: boolean, problem: string): void => void (holds || problems.push(problem))
  check(text.endsWith('\n') && !text.includes('\n\n'), 'an empty line, or no line break at the end')
  const families = new Map<string, string>()
  const seen = new Set<string>()
  let help = ''
  let family = ''
  const lines = text.split('\n').filter((line) => line !== '' && line !== '# EOF')
  for (const line of lines) {
    const [, keyword, name = '', rest = ''] = /^# (\w+) (\S+) ?(.*)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      help = name
      check(rest !== '', `${name} has no help`)
    } else if (keyword === 'TYPE') {
      check(help === name, `${name} has its type before its help`)
      check(!families.has(name), `${name} is there twice`)
      check(!OTHER_UNIT.test(name), `${name} has no base unit`)
      check(!/(?:counter|gauge|histogram)/.test(name), `${name} has its type in its name`)
      check(/_total$/.test(name) === (rest === 'counter' && !isOpen), `${name} is a ${rest}`)
      check(isOpen || rest !== 'info', `${name} is an info`)
      families.set(name, rest)
      family = name
    } else {
      const sample = readSample(line)
      const key = `${sample.name} ${JSON.stringify(sample.labels)}`
      check(!seen.has(key), `${key} is there twice`)
      seen.add(key)
      const type = families.get(family) ?? ''
      const suffixes = isOpen || type === 'histogram' ? SUFFIXES[type] : ['']
      const names = (suffixes ?? []).map((suffix) => family + suffix)
      check(names.includes(sample.name), `${sample.name} is in ${family}`)
      check(isOpen || !sample.name.endsWith('_created'), `${sample.name} is no sample`)
    }
  }
  for (const [name, type] of families) {
    if (type === 'histogram') problems.push(...histogramProblems(text, name))
    if (!isOpen || !['counter', 'histogram'].includes(type)) continue
    const count = (suffix: string): number =>
      samplesOf(text).filter((sample) => sample.name === name + suffix).length
    check(count('_created') === count(type === 'counter' ? '_total' : '_count'), `${name}_created`)
  }
  return problems
}

function readSample(line: string): ReadSample {
  const [, name, list = '', number] = SAMPLE.exec(line) ?? []
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  let end = 0
  for (let match = LABEL.exec(list); match !== null; match = LABEL.exec(list)) {
    labels[match[1] ?? ''] = (match[2] ?? '').replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c))
    end = LABEL.lastIndex
  }
  const value = Number(number)
  if (name === undefined || Number.isNaN(value) || end !== list.length) {
    throw new Error(`No sample: ${line}`)
  }
  return { name, labels, value }
}

function histogramProblems(text: string, name: string): readonly string[] {
  const problems: string[] = []
  let last = { labels: '', bound: Number.NEGATIVE_INFINITY, value: 0 }
  for (const sample of samplesOf(text)) {
    const { le = '', ...others } = sample.labels
    const labels = JSON.stringify(others)
    if (sample.name === `${name}_bucket`) {
      const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)
      const isNext = labels === last.labels && last.bound !== Number.POSITIVE_INFINITY
      if (isNext && (bound <= last.bound || sample.value < last.value))
        problems.push(`${name} ${le}`)
      last = { labels, bound, value: sample.value }
    } else if (sample.name === `${name}_count`) {
      const isWhole = last.bound === Number.POSITIVE_INFINITY && last.labels === labels
      if (!isWhole || last.value !== sample.value) problems.push(`${name}_count ${labels}`)
    }
  }
  return problems
}
