import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { helpText } from '../../lib/commands/help.ts'
import { commands, options } from '../../lib/process/commands.ts'
import { settings } from '../../lib/process/settings.ts'

describe('helpText()', () => {
  it('lists every setting with its flag, its variable and its default', () => {
    const text = helpText()
    for (const [name, { fallback }] of Object.entries(settings)) {
      const words = name.split(/(?=[A-Z])/)
      const flag = `--${words.join('-').toLowerCase()}`
      // A switch has no value.
      const value = typeof fallback === 'boolean' ? '' : ' [A-Z]+'
      const isShown = typeof fallback === 'number' || typeof fallback === 'string'
      const shown = isShown ? String(fallback) : ''
      const tail = shown === '' ? '' : `.*\\(default ${shown}\\)$`
      assert.match(text, new RegExp(`^  ${flag}${value}  +\\w${tail}`, 'm'))
    }
    assert.match(text, /PORTICO_MAX_FIELDS sets --max-fields/)
    for (const flag of ['--help', '--version', '--check', '--routes', '--json', '--watch'])
      assert.ok(text.includes(`  ${flag}  `), flag)
    assert.match(text, /^ {2}--explain TARGET /m)
    assert.match(text, /^portico init \[DIR\] \[--ts\] /m)
    assert.doesNotMatch(text, /undefined/)
  })

  it('has no line of more than 100 characters, and each setting once', () => {
    const lines = helpText().split('\n')
    assert.deepEqual(
      lines.filter((line) => line.length > 100),
      [],
    )
    for (const { flag } of Object.values(settings)) {
      assert.equal(lines.filter((line) => line.startsWith(`  --${flag} `)).length, 1, flag)
    }
  })

  it('has at most 24 lines in each group', () => {
    for (const group of helpText().split('\n\n')) assert.ok(group.split('\n').length <= 24, group)
  })

  it('lists every command and every option', () => {
    for (const [name, { argument }] of Object.entries({ ...commands, ...options })) {
      const left = argument === undefined ? `--${name}` : `--${name} ${argument}`
      assert.ok(helpText().includes(`\n  ${left}  `), left)
    }
  })
})
