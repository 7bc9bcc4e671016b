import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { welcomeController } from '../../lib/controllers/welcome-controller.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { HttpResponse } from '../../lib/http/response.ts'

describe('welcomeController.index()', () => {
  it('responds with a page of first steps, which loads nothing', () => {
    const response = new HttpResponse()
    welcomeController.index(new HttpRequest({ target: '/?<script>' }), response)
    assert.equal(response.status, 200)
    assert.deepEqual(Object.fromEntries(response.headers), {
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      'Content-Type': 'text/html; charset=utf-8',
    })
    const page = String(response.body)
    assert.match(page, /^<!doctype html>.*--controllers.*<\/html>\n$/s)
    assert.doesNotMatch(page, /<script|src=|href=/)
  })
})
