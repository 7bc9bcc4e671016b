import { printable } from '../reporting/printable.ts'

/** How text for people looks. */
export interface TextStyle {
  /** Whether it is for a terminal that shows it in bold and in colours. */
  readonly color: boolean
}

/** Paints text bold, or dim, or in a colour; leaves it alone where there is nothing to paint on. */
export function paint(text: string, code: keyof typeof CODES, { color }: TextStyle): string {
  return color && text !== '' ? `\u001b[${CODES[code]}m${text}\u001b[0m` : text
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

const GAP = '  '

/** Rows in columns that are as wide as their widest cell; the first row is the head. */
export function terminalTable(rows: readonly (readonly string[])[], style: TextStyle): string {
  const [head = [], ...body] = alignedRows(rows)
  return [
    paint(head.join(GAP).trimEnd(), 'bold', style),
    ...body.map((cells) => lineOf(cells, style)),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/** The cells of each row, padded, and with nothing in them that could move a cursor. */
export function alignedRows(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const shown = rows.map((row) => row.map(printable))
  const widths = shown.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, cell.length)),
    [],
  )
  return shown.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)))
}

// Where something is written is for the second look.
function lineOf(cells: readonly string[], style: TextStyle): string {
  const last = cells.at(-1)?.trimEnd() ?? ''
  const line = [...cells.slice(0, -1), paint(last, 'dim', style)].join(GAP)
  return line.trimEnd()
}
