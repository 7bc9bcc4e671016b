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
