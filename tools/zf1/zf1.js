import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('run.php', import.meta.url))
const MAX_RUN_MS = 30 * 60_000

/** The error if ZF1 cannot run: ZF1 or PHP is missing, or an option is wrong. */
export class SetupError extends Error {}

/** The real Zend Framework 1 in a child process. It returns the outcomes in the order of the requests. */
export class Zf1 {
  #folder
  #pending = []
  #failure
  #php

  /** @param modules The actions of each controller, by module. */
  constructor(modules) {
    if (!process.env.ZF1) throw new SetupError('Set ZF1 to the folder that contains Zend/')
    this.#folder = mkdtempSync(join(tmpdir(), 'portico-zf1-'))
    this.#php = spawn('php', [PROGRAM, JSON.stringify(modules), this.#folder])
    setTimeout(() => this.#php.kill('SIGKILL'), MAX_RUN_MS).unref()
    const errorText = text(this.#php.stderr)
    this.#php.on('error', () =>
      this.#fail(new SetupError('php was not found: install php-cli 8.2')),
    )
    this.#php.on('close', async (code) => this.#fail(failureOf(code, await errorText)))
    // The two listeners above report the cause.
    this.#php.stdin.on('error', () => {})
    createInterface({ input: this.#php.stdout }).on('line', (line) =>
      this.#pending.shift().resolve(JSON.parse(line)),
    )
  }

  /**
   * Runs a request once for each set of differences.
   *
   * @param sets `null` for ZF1 without changes, `{ names, ids }` for ZF1 with those differences.
   * @returns A promise of a list with one outcome for each set.
   */
  run(request, sets) {
    const { target, body } = request
    const mark = target.indexOf('?')
    const search = mark < 0 ? '' : target.slice(mark)
    const job = { request, sets, search: fieldsOf(search), form: fieldsOf(`?${body}`) }
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      this.#pending.push({ resolve, reject })
      this.#php.stdin.write(`${JSON.stringify(job)}\n`)
    })
  }

  stop() {
    this.#php.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true })
  }

  #fail(failure) {
    this.#failure ??= failure
    for (const { reject } of this.#pending.splice(0)) reject(this.#failure)
  }
}

// run.php exits with 2 if ZF1 is incomplete.
function failureOf(code, errorText) {
  if (code === 2) return new SetupError(errorText.trim())
  return new Error(`ZF1 has ended: ${errorText.trim() || code || 'it took too long'}`)
}

// URLSearchParams removes one leading `?`, so the caller adds one.
function fieldsOf(search) {
  return [...new URLSearchParams(search)]
}
