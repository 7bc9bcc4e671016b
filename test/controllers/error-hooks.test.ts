import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ErrorHooks, errorHooks } from '../../lib/controllers/error-hooks.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import type { FrontController } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'

const link = { href: '/elp/oauth.php?provider=x&a=1', text: 'Sign <in>' }

// A controller with an action that has hooks.
const withHooks = (hooks: ErrorHooks) => ({
  index: Object.assign(() => {}, { [errorHooks]: hooks }),
})
const withLink = (linkOf: ErrorHooks['linkOf']) => withHooks({ failed() {}, linkOf })

describe('The link of a controller for errors', () => {
  const bodyOf = async (front: FrontController, accept: string): Promise<string> => {
    const request = new HttpRequest({ target: '/news/list', headers: { accept } })
    return String((await front.handle(request)).body)
  }

  it('is on the page, in the problem details and in the text', async () => {
    for (const development of [false, true]) {
      const front = createFront({ elp: withLink(() => link) }, { development })
      assert.ok(
        (await bodyOf(front, 'text/html')).includes(
          '<p><a href="/elp/oauth.php?provider=x&amp;a=1">Sign &lt;in&gt;</a></p>',
        ),
      )
      assert.deepEqual(JSON.parse(await bodyOf(front, 'application/json')).link, link)
      assert.ok((await bodyOf(front, 'text/plain')).includes(`\n${link.text}: ${link.href}\n`))
    }
  })

  it('is that of the first controller that has one for the error, also in a module', async () => {
    const seen: unknown[] = []
    const hooks: ErrorHooks = {
      failed: (request) => seen.push('failed', request.controller),
      linkOf: (request, exception) => void seen.push(request.controller, exception.message),
    }
    const front = createFront(
      { a: withHooks(hooks), b: {} },
      { modules: { admin: { c: withLink(() => link) } } },
    )
    assert.deepEqual(JSON.parse(await bodyOf(front, 'application/json')).link, link)
    // Before the error action, and for its page.
    assert.deepEqual(seen, ['failed', 'news', 'news', 'Invalid controller specified (news)'])
  })

  it('is missing if no controller has one', async () => {
    for (const controllers of [{ a: {} }, { a: withLink(() => undefined) }]) {
      const front = createFront(controllers)
      assert.equal('link' in JSON.parse(await bodyOf(front, 'application/json')), false)
      assert.doesNotMatch(await bodyOf(front, 'text/html'), /<a /)
    }
  })
})
