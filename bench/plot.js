// Draws docs/performance.svg: CPU per request against bare node:http, with a dot for the median and a line for the quartiles.

const NAMES = {
  'portico-serve': 'portico, serve()',
  'portico-metrics': 'with metrics',
  'portico-plugin': 'with one plugin',
  'portico-public': 'with public files',
  'portico-session': 'with a session',
}
const WIDTH = 760
const LEFT = 130
const RIGHT = 70
const ROW = 18
const TITLE = 34
const TOP = 76
const MIN_RATIO = 0.4
const MAX_RATIO = 10
const TICKS = [0.5, 1, 2, 4, 8]

const STYLE = `
text{font:12px system-ui,sans-serif;fill:#24292f}
.title{font-size:16px;font-weight:600}.head{font-weight:600}.soft{fill:#6e7781}
.grid{stroke:#d0d7de}.noise{fill:#8882}.one{stroke:#6e7781;stroke-dasharray:3 3}
.peer{fill:#8c959f;stroke:#8c959f}.own{fill:#0969da;stroke:#0969da}text.own{stroke:none;font-weight:600}
text.peer{fill:#57606a;stroke:none}.whisker{stroke-width:2;opacity:.55}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.soft,text.peer{fill:#9198a1}.grid{stroke:#3d444d}.one{stroke:#9198a1}
.peer{fill:#767e88;stroke:#767e88}.own,text.own{fill:#4493f8;stroke:#4493f8}text.own{stroke:none}}`

/** Returns an SVG that is readable on a light and on a dark background. */
export function plot(cpu, workloads, version) {
  let y = TOP
  const panels = Object.entries(cpu).map(([id, figures]) => {
    const rows = Object.entries(figures).filter(([adapter]) => adapter !== 'bare')
    const panel = drawPanel(`${id}  ${workloads[id].title}`, rows, y, figures.bare)
    y += TITLE + rows.length * ROW
    return panel
  })
  const height = y + 24
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="CPU per request against bare node:http">
<style>${STYLE}
</style>
<text class="title" x="16" y="28">CPU per request against bare node:http, Node ${version}</text>
<text class="soft" x="16" y="48">lower is better; 1 is node:http with the same work; median and quartiles; the grey band is the noise of the control</text>
${panels.join('\n')}
${drawLabels(height - 6)}
</svg>
`
}

function drawLabels(y) {
  return TICKS.map(
    (tick) => `<text class="soft" x="${xOf(tick)}" y="${y}" text-anchor="middle">${tick}×</text>`,
  ).join('')
}

function drawGrid(top, rows) {
  const bottom = top + rows * ROW
  return TICKS.map((tick) => {
    const x = xOf(tick)
    return `<line class="${tick === 1 ? 'one' : 'grid'}" x1="${x}" x2="${x}" y1="${top}" y2="${bottom}"/>`
  }).join('')
}

function drawPanel(title, rows, top, control) {
  const sorted = [...rows].sort(([, a], [, b]) => a.ratio.median - b.ratio.median)
  const drawn = sorted.map(([adapter, { ratio }], i) =>
    drawRow(adapter, ratio, top + TITLE + i * ROW),
  )
  const noise = control === undefined ? [] : [drawNoise(control.ratio, top + TITLE, rows.length)]
  return [
    ...noise,
    drawGrid(top + TITLE - ROW / 2, rows.length),
    `<text class="head" x="16" y="${top + 16}">${escapeXml(title)}</text>`,
    ...drawn,
  ].join('\n')
}

// The quartiles of node:http against itself.
function drawNoise({ q1, q3 }, top, rows) {
  const [from, to] = [xOf(q1), xOf(q3)]
  const width = Math.round((to - from) * 10) / 10
  return `<rect class="noise" x="${from}" y="${top - ROW / 2}" width="${width}" height="${rows * ROW}"/>`
}

function drawRow(adapter, { median, q1, q3 }, y) {
  const kind = adapter.startsWith('portico') ? 'own' : 'peer'
  const name = NAMES[adapter] ?? adapter
  const mark =
    median > MAX_RATIO
      ? `<path class="${kind}" d="M${xOf(MAX_RATIO) - 4} ${y - 4.5}l8 4.5-8 4.5z"/>`
      : `<line class="${kind} whisker" x1="${xOf(q1)}" x2="${xOf(q3)}" y1="${y}" y2="${y}"/><circle class="${kind}" cx="${xOf(median)}" cy="${y}" r="4.5"/>`
  return `<text class="${kind}" x="${LEFT - 12}" y="${y + 4}" text-anchor="end">${name}</text>${mark}<text class="${kind}" x="${WIDTH - 16}" y="${y + 4}" text-anchor="end">${ratioText(median)}</text>`
}

function ratioText(median) {
  return `${median >= 100 ? Math.round(median).toLocaleString('en') : median.toFixed(2)}×`
}

// The axis is logarithmic.
function xOf(ratio) {
  const bounded = Math.min(MAX_RATIO, Math.max(MIN_RATIO, ratio))
  const share = Math.log(bounded / MIN_RATIO) / Math.log(MAX_RATIO / MIN_RATIO)
  return Math.round((LEFT + share * (WIDTH - LEFT - RIGHT)) * 10) / 10
}

function escapeXml(text) {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;')
}
