import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { repositoryFile } from '../support/repository.ts'

describe('The links of the pages', () => {
  const pages = ['README.md', 'SECURITY.md', 'CHANGELOG.md', ...pagesIn('docs'), ...pagesIn('test')]

  it('lead to a file, and to a heading, that exists', () => {
    assert.ok(pages.length > 15, `${pages.length} pages`)
    assert.deepEqual(pages.flatMap(brokenLinks), [])
  })
})

function pagesIn(folder: string): readonly string[] {
  return readdirSync(repositoryFile(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

function brokenLinks(page: string): readonly string[] {
  const links = [...proseOf(page).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)/g)]
  return links.flatMap(([link, path = '', anchor]) => {
    const target = path === '' ? page : join(dirname(page), path)
    const isBroken =
      !existsSync(repositoryFile(target)) ||
      (anchor !== undefined && !anchorsOf(target).has(anchor))
    return isBroken ? [`${page}: ${link.slice(1)}`] : []
  })
}

// As GitHub makes them: a repeated heading gets a number.
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`
    anchors.add(anchor)
  }
  return anchors
}

function proseOf(page: string): string {
  return readFileSync(repositoryFile(page), 'utf8').replace(/^```.*?^```$/gms, '')
}
