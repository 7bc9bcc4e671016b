import { html, type Markup } from '../http/html.ts'

/** A row of values, one for each minute; undefined where there is none. */
export interface Series {
  /** The class that gives the color, and the name in the legend. */
  readonly name: string
  readonly values: readonly (number | undefined)[]
}

const WIDTH = 600
const HEIGHT = 120

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
        // A line to itself, with round ends.
        path += isDrawing ? `L${point}` : `M${point}h0`
        isDrawing = true
      }
    }
    return path
  })
}

// Draws all series with one scale.
function plot(
  label: string,
  all: readonly Series[],
  textOf: TextOf,
  className: string,
  pathOf: (values: Series['values'], step: number, heightOf: (value: number) => number) => string,
): Markup {
  const highest = highestOf(all)
  const step = WIDTH / countOf(all)
  const heightOf = (value: number): number => scaled(value, highest)
  const marks = all.map(
    ({ name, values }) =>
      html`<path class="${className}${name}" d="${pathOf(values, step, heightOf)}"/>`,
  )
  const names = all.map(({ name }) => html`<span class="key ${name}">${name}</span>`)
  const most = textOf(highest)
  return html`<figure><figcaption>${label} ${names}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label} in the last hour, at most ${most}">${marks}</svg>
<p class="axis"><span>60 min ago</span><span>at most ${most}</span><span>now</span></p></figure>
`
}

function countOf(all: readonly Series[]): number {
  return Math.max(1, ...all.map(({ values }) => values.length))
}

function highestOf(all: readonly Series[]): number {
  return Math.max(0, ...all.flatMap(({ values }) => values.map((value = 0) => value)))
}

// A value that is not zero is seen, however small it is beside the highest.
function scaled(value: number, highest: number): number {
  return value === 0 ? 0 : Math.max(2, round(((HEIGHT - 4) * value) / highest))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
