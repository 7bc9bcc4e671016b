/** A block of code of a page. */
export interface Block {
  /** The first word after the fence. */
  readonly language: string
  /** The words after the language: a file name, or what kind of program the block is. */
  readonly name: string
  readonly code: string
  /** The line of the page where the block starts. */
  readonly line: number
  /** The last heading of the second level above the block. */
  readonly section: string
}

/** Returns the blocks of code of a page, in order. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+) ?(.*)\n((?:(?!```).*\n)*)```$/gm)].map((match) => {
    const [, language = '', name = '', code = ''] = match
    const before = page.slice(0, match.index)
    const section = [...before.matchAll(/^## (.*)$/gm)].at(-1)?.[1] ?? ''
    return { language, name, code, line: before.split('\n').length, section }
  })
}

/** A command in a block of a terminal, and the output that the page shows. */
export interface ShownCommand {
  readonly command: string
  readonly output: string
}

/** Returns the commands of a block of a terminal, with their output. */
export function commandsOf({ code }: Block): ShownCommand[] {
  return code
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const end = text.indexOf('\n')
      return { command: text.slice(0, end), output: text.slice(end + 1).trimEnd() }
    })
}

/** Returns the text below a heading of the second level, up to the next one. */
export function sectionOf(page: string, heading: string): string {
  const [, text = ''] = page.split(`\n## ${heading}\n`)
  return text.split('\n## ')[0] ?? ''
}

/** Returns the items of the ordered lists in a text. */
export function orderedItemsOf(text: string): string[] {
  return Array.from(text.matchAll(/^\d+\. (.*(?:\n {2,}\S.*)*)/gm), ([, item = '']) => item)
}

/** Returns the rows of the table with this head: an array of cells for each row. */
export function tableOf(page: string, ...head: readonly string[]): string[][] {
  const cellsOf = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
  const lines = page.split('\n')
  const start = lines.findIndex((line) => cellsOf(line).join('|') === head.join('|'))
  if (start < 0) return []
  const rows = lines.slice(start + 2)
  const end = rows.findIndex((line) => !line.startsWith('|'))
  return rows.slice(0, end < 0 ? undefined : end).map(cellsOf)
}

/** Returns the texts in backticks. */
export function codeSpansOf(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code)
}
