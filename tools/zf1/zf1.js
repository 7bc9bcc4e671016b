import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('run.php', import.meta.url))
const LONGEST_MS = 30 * 60_000

/** Why ZF1 can't be asked at all. */
export class SetupError extends Error {}

/** The real Zend Framework 1, as a child process that answers in the order in which it is asked. */
export class Zf1 {
  #folder
  #waiting = []
  #failure
  #php

  /** @param modules The actions of each controller, by module. */
  constructor(modules) {
    if (!process.env.ZF1) throw new SetupError('Set ZF1 to the folder that holds Zend/')
    this.#folder = mkdtempSync(join(tmpdir(), 'portico-zf1-'))
    this.#php = spawn('php', [PROGRAM, JSON.stringify(modules), this.#folder])
    setTimeout(() => this.#php.kill('SIGKILL'), LONGEST_MS).unref()
    const told = text(this.#php.stderr)
    this.#php.on('error', () => this.#fail(new SetupError('There is no php: install php-cli 8.2')))
    this.#php.on('close', async (code) => this.#fail(ended(code, await told)))
    // What ends it is told by the two above.
    this.#php.stdin.on('error', () => {})
    createInterface({ input: this.#php.stdout }).on('line', (line) =>
      this.#waiting.shift().resolve(JSON.parse(line)),
    )
  }

  /**
   * @param sets Each asks once: null for ZF1 as it is, `{ names, ids }` for ZF1 with those differences.
   * @returns A promise of one outcome for each.
   */
  ask(request, sets) {
    const { target, body } = request
    const mark = target.indexOf('?')
    const search = mark < 0 ? '' : target.slice(mark)
    const job = { request, sets, search: fieldsOf(search), form: fieldsOf(`?${body}`) }
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      this.#waiting.push({ resolve, reject })
      this.#php.stdin.write(`${JSON.stringify(job)}\n`)
    })
  }

  end() {
    this.#php.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true })
  }

  #fail(failure) {
    this.#failure ??= failure
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure)
  }
}

function ended(code, told) {
  if (code === 2) return new SetupError(told.trim())
  return new Error(`ZF1 has ended: ${told.trim() || code || 'it took too long'}`)
}

// The constructor takes one `?` for its own.
function fieldsOf(search) {
  return [...new URLSearchParams(search)]
}
