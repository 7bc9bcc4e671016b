/** A block of code in a page. */
export interface Block {
  /** What stands behind the fence: a language, and what the block is. */
  readonly language: string
  readonly name: string
  readonly code: string
  /** Where it begins in the page. */
  readonly line: number
}

/** The blocks of code of a page, in their order. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+) ?(.*)\n((?:(?!```).*\n)*)```$/gm)].map((match) => {
    const [, language = '', name = '', code = ''] = match
    return { language, name, code, line: page.slice(0, match.index).split('\n').length }
  })
}

/** A command of a block of a terminal, and what it prints. */
export interface Shown {
  readonly command: string
  readonly output: string
}

/** The commands of a terminal's block. */
export function commandsOf({ code }: Block): Shown[] {
  return code
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const end = text.indexOf('\n')
      return { command: text.slice(0, end), output: text.slice(end + 1).trimEnd() }
    })
}
