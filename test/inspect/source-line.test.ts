import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lineOfExport } from '../../lib/inspect/source-line.ts'

const source = `import { get } from 'portico'
import external from './external.js'
/*
export function list() { return 'an old version' }
*/
// export function list() {}
export function list() {
  const view = 1
}
export async function view() {}
export function* lines() {}
export const arrow = () => 1,
  second = () => 2
export const bound = list.bind(null).bind(null)
export const proxy = new Proxy(list, {})
export const wrapped = get((request, response) => response.text(''))
export const $money = () => {}
export const {
  one,
  two,
} = both()
function both() {
  function inner() {}
  return { one: inner, two: inner }
}
async function local() {}
let mutable = () => {}
export { local as renamed, mutable, external }
export {
  inner,
  theirs as other,
} from './others.js'
export * from './base.js'
export default function () {}
`

describe('lineOfExport()', () => {
  for (const [name, text] of [
    ['list', 'export function list() {'],
    ['view', 'export async function view() {}'],
    ['lines', 'export function* lines() {}'],
    ['arrow', 'export const arrow = () => 1,'],
    ['bound', 'export const bound = list.bind(null).bind(null)'],
    ['proxy', 'export const proxy = new Proxy(list, {})'],
    ['wrapped', "export const wrapped = get((request, response) => response.text(''))"],
    ['$money', 'export const $money = () => {}'],
    ['one', '  one,'],
    ['two', '  two,'],
    ['renamed', 'async function local() {}'],
    ['mutable', 'let mutable = () => {}'],
    ['external', 'export { local as renamed, mutable, external }'],
    ['inner', '  inner,'],
    ['other', '  theirs as other,'],
    ['default', 'export default function () {}'],
  ] as const) {
    it(`finds "${name}"`, () => {
      assert.equal(source.split('\n')[(lineOfExport(source, name) ?? 0) - 1], text)
    })
  }

  it('returns null for a name that the text does not export', () => {
    for (const name of ['second', 'base', 'lis', 'local', 'both', '.*', 'constructor']) {
      assert.equal(lineOfExport(source, name), null, name)
    }
    assert.equal(lineOfExport('', 'default'), null)
  })

  for (const start of [
    'export default {',
    'module.exports = {',
    'export default defineController({',
  ]) {
    const object = [
      "const view = () => 'local'",
      'const other = { list() {}, wrapped: 1 }',
      start,
      '  list(request, response) { wrapped() },',
      '  async save() {},',
      '  wrapped: get(() => {}),',
      '  view, last',
      '}',
    ]
    for (const [name, line] of [
      ['list', 4],
      ['save', 5],
      ['wrapped', 6],
      ['view', 1],
      ['last', 7],
      ['request', null],
    ] as const) {
      it(`finds "${name}" in ${start}`, () =>
        assert.equal(lineOfExport(object.join('\n'), name), line))
    }
  }

  it('finds exports.<name>', () => {
    for (const start of ['', 'module.']) {
      assert.equal(lineOfExport(`exports.other = 1\n${start}exports.list = () => {}`, 'list'), 2)
    }
  })
})
