import { html, type Markup } from '../http/html.ts'

/** A row of values, one for each minute; undefined where there is none. */
export interface Series {
  /** The class that gives the color, and the name in the legend. */
  readonly name: string
  readonly values: readonly (number | undefined)[]
}

const WIDTH = 600
const HEIGHT = 120
// Lines at the top, at the half and at each quarter of the hour.
const GRID = `M0 0H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M150 0V${HEIGHT}M300 0V${HEIGHT}M450 0V${HEIGHT}`
const TIMES = ['60 min', '45', '30', '15', 'now']

type TextOf = (value: number) => string

/** Draws bars for each minute, those of later series in front of the earlier ones. */
export function barPlot(label: string, all: readonly Series[], textOf: TextOf): Markup {
  return plot(label, all, textOf, '', (values, step, heightOf) =>
    values
      .map((value = 0, i) => {
        const height = heightOf(value)
        return height === 0
          ? ''
          : `M${round(i * step + 1)} ${HEIGHT}v-${height}h${round(step - 2)}V${HEIGHT}z`
      })
      .join(''),
  )
}

/** Draws a line for each series. A minute without a value interrupts it; one between two such is a dot. */
export function linePlot(label: string, all: readonly Series[], textOf: TextOf): Markup {
  return plot(label, all, textOf, 'line ', (values, step, heightOf) => {
    let path = ''
    let isDrawing = false
    for (const [i, value] of values.entries()) {
      if (value === undefined) isDrawing = false
      else {
        const point = `${round((i + 0.5) * step)} ${round(HEIGHT - heightOf(value))}`
        // `h0` is a line to the point itself: with its round ends, it is a dot.
        path += isDrawing ? `L${point}` : `M${point}h0`
        isDrawing = true
      }
    }
    return path
  })
}

// Draws all series with one scale, from 0 to a round number.
function plot(
  label: string,
  all: readonly Series[],
  textOf: TextOf,
  className: string,
  pathOf: (values: Series['values'], step: number, heightOf: (value: number) => number) => string,
): Markup {
  const highest = highestOf(all)
  if (highest === 0) {
    return html`<figure><figcaption>${label}</figcaption><p class="none soft">No request in the last hour.</p></figure>`
  }
  const top = roundUp(highest)
  const step = WIDTH / Math.max(...all.map(({ values }) => values.length))
  const heightOf = (value: number): number => scaled(value, top)
  const marks = all.map(
    ({ name, values }) =>
      html`<path class="${className}${name}" d="${pathOf(values, step, heightOf)}"/>`,
  )
  const names = all.map(({ name }) => html`<span class="key ${name}">${name}</span>`)
  const scale = [top, top / 2, 0].map(textOf)
  return html`<figure><figcaption>${label} ${names}</figcaption>
<div class="plot"><p class="axis y">${spans(scale)}</p>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label} in the last hour, at most ${textOf(highest)}"><path class="grid" d="${GRID}"/>${marks}</svg>
<p class="axis x">${spans(TIMES)}</p></div></figure>
`
}

function spans(texts: readonly string[]): readonly Markup[] {
  return texts.map((text) => html`<span>${text}</span>`)
}

function highestOf(all: readonly Series[]): number {
  return Math.max(0, ...all.flatMap(({ values }) => values.map((value = 0) => value)))
}

// A value that is not zero is seen, however small it is beside the highest.
function scaled(value: number, top: number): number {
  return value === 0 ? 0 : Math.max(2, round((HEIGHT * value) / top))
}

// Returns a number whose half is short too: 1, 2, 4, 5, 8 or 10, times a power of ten.
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const digit = [1, 2, 4, 5, 8, 10].find((each) => each * power >= value) ?? 10
  return digit * power
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
