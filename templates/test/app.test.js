import assert from 'node:assert/strict'
import { it } from 'node:test'
import { FrontController, HttpRequest } from 'portico'
import options from '../app.js'

const front = new FrontController(options)

it('shows the home page, with a link to the news', async () => {
  const response = await front.handle(new HttpRequest({ target: '/' }))
  assert.equal(response.status, 200)
  assert.match(String(response.body), /href="\/news"/)
})

it('shows the error page for an unknown article', async () => {
  const target = '/news/view/id/unknown'
  const page = await front.handle(new HttpRequest({ target, headers: { accept: 'text/html' } }))
  assert.equal(page.status, 404)
  assert.match(String(page.body), /<p>There is no such article/)
  assert.equal(page.headers.get('cache-control'), 'no-store')
  const { body } = await front.handle(new HttpRequest({ target }))
  assert.equal(JSON.parse(String(body)).detail, 'There is no such article')
})

it('saves an article that its own form sends, and shows it', async () => {
  const saved = await front.handle(save())
  assert.equal(saved.status, 303)
  const target = String(saved.headers.get('location'))
  const { body } = await front.handle(new HttpRequest({ target }))
  assert.match(String(body), /Milk &amp; honey/)
})

function save() {
  return new HttpRequest({
    method: 'POST',
    target: '/news/save',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    },
    body: 'title=Milk+%26+honey',
  })
}
