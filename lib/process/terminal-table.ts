import { printable } from '../scrubbing/printable.ts'

/** The style of text for a terminal. */
export interface TextStyle {
  /** Whether to use colours and bold text. */
  readonly color: boolean
}

/** Paints text bold, dim or in a colour; returns it unchanged if it is empty or colours are off. */
export function paint(text: string, code: keyof typeof CODES, { color }: TextStyle): string {
  return color && text !== '' ? `\u001b[${CODES[code]}m${text}\u001b[0m` : text
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

const GAP = '  '

/** Formats rows as a table with aligned columns; the first row is the header. */
export function terminalTable(rows: readonly (readonly string[])[], style: TextStyle): string {
  const [header = [], ...body] = alignedRows(rows)
  const title = paint(header.join(GAP).trimEnd(), 'bold', style)
  const lines = [title, ...body.map((cells) => lineOf(cells, style))]
  return lines.map((line) => `${line}\n`).join('')
}

/** Returns the rows with their cells padded to equal widths and their control characters escaped. */
export function alignedRows(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const safeRows = rows.map((row) => row.map(printable))
  const widths = safeRows.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, cell.length)),
    [],
  )
  return safeRows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)))
}

// The last column is a file and its line, which the reader needs least.
function lineOf(cells: readonly string[], style: TextStyle): string {
  const last = cells.at(-1)?.trimEnd() ?? ''
  const line = [...cells.slice(0, -1), paint(last, 'dim', style)].join(GAP)
  return line.trimEnd()
}
