import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  assertRedirect,
  beginning,
  depart,
  goBack,
  ORIGIN,
  startHostileApp,
} from '../support/sign-in.ts'

const KEPT: readonly string[] = [
  '/',
  '/a/path',
  '/a/path/',
  '/a?b=c&d=%20e+f&d=',
  '/a?u=https://evil.example//x',
  '/a?u=%2F%5C%0d%0a',
  '/a#fragment',
  '/a%2f%2fb',
  '/%252fevil.example',
  "/~!$'()*,;:@[]|^",
  '/elp/oauth.php?provider=hostile',
  `/${'a'.repeat(1_023)}`,
]

const REPLACED: Readonly<Record<string, string>> = {
  '/\u00e4/\u20ac?\u00f6=\u{1f600}': '/%C3%A4/%E2%82%AC?%C3%B6=%F0%9F%98%80',
}

const REJECTED: readonly string[] = [
  '',
  'a',
  'evil.example',
  'https://evil.example/',
  'https:/evil.example',
  'javascript:alert(1)',
  '?a=b',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '\\\\evil.example',
  '/a\\b',
  '/a?b=\\',
  '/%2fevil.example',
  '/%2Fevil.example',
  '/%5cevil.example',
  '/a%5Cb',
  '/\tevil.example',
  '/..//evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  '/%2e%2e//evil.example',
  '/.%2E/%2fevil.example',
  '/\n/evil.example',
  ' /a',
  '\t/a',
  '/a\r\nSet-Cookie: a=b',
  '/a\0',
  '/a\x7f',
  '/a?b=\x1f',
  '/%09/evil.example',
  '/a%0d%0ab',
  '/a%00',
  `/${'a'.repeat(1_024)}`,
  `/${'\u00e4'.repeat(600)}`,
]

describe('continue', () => {
  it('comes back byte for byte if it is a path of this origin, and is / otherwise', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const table = [
      ...KEPT.map((path) => [path, path]),
      ...Object.entries(REPLACED),
      ...REJECTED.map((path) => [path, '/']),
    ] as [string, string][]
    for (const [sent, expected] of table) {
      const back = await depart(client, beginning('hostile', { continue: sent }))
      assertRedirect(await goBack(client, back), expected)
      const signOut = { form: { continue: sent } }
      assertRedirect(await client.send(`${ORIGIN}/elp/sign-out`, signOut), expected)
    }
  })

  it('is not encoded if it is too long', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const encode = t.mock.method(globalThis, 'encodeURIComponent')
    const signOut = { form: { continue: `/${'\u00e4a'.repeat(10_000)}` } }
    assertRedirect(await client.send(`${ORIGIN}/elp/sign-out`, signOut), '/')
    assert.ok(encode.mock.callCount() < 100, `${encode.mock.callCount()}`)
  })

  it('is not read from the return', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const back = await depart(client, beginning('hostile', { continue: '/first' }))
    back.searchParams.set('continue', '/second')
    assertRedirect(await goBack(client, back), '/first')
  })
})
