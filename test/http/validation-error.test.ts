import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpError } from '../../lib/http/errors.ts'
import { factsOf } from '../../lib/http/exceptions.ts'
import { formatIssue, ValidationError } from '../../lib/http/validation-error.ts'

describe('ValidationError', () => {
  it('is a 400 that says what was wrong', () => {
    const issues = [
      { path: 'id', message: 'Expected a number' },
      { path: '', message: 'Too many' },
    ]
    const error = new ValidationError(issues)
    assert.ok(error instanceof HttpError)
    assert.deepEqual(factsOf(error), {
      type: 'EXCEPTION_OTHER',
      status: 400,
      code: 400,
      message: 'Invalid parameters: id: Expected a number; Too many',
    })
    assert.deepEqual([error.name, error.issues], ['ValidationError', issues])
  })

  it('calls the parts of a JSON body fields', () => {
    const { message, subject } = new ValidationError([{ path: '', message: 'bad' }], 2, 'field')
    assert.deepEqual([message, subject], ['Invalid fields: bad; and 1 more', 'field'])
    assert.equal(new ValidationError([]).subject, 'parameter')
  })

  it('lists the first 20, and counts the others', () => {
    const issues = Array.from({ length: 23 }, (_, i) => ({ path: `p${i}`, message: 'bad' }))
    const { message } = new ValidationError(issues)
    assert.match(message, /; p19: bad; and 3 more$/)
    assert.doesNotMatch(message, /p20/)
    assert.match(new ValidationError(issues.slice(0, 20)).message, /; p19: bad$/)
  })

  it('counts an issue that no report would show', () => {
    const issues = [
      { path: 'a', message: 'bad' },
      { path: 'b', message: 'long'.repeat(5_000) },
    ]
    const error = new ValidationError(issues)
    assert.equal(error.message, 'Invalid parameters: a: bad; and 1 more')
    assert.deepEqual(error.issues, issues)
    const alone = new ValidationError(issues.slice(1))
    assert.equal(alone.message, 'Invalid parameters: 1 too long to list')
  })
})

describe('formatIssue()', () => {
  it('names the parameter once', () => {
    assert.equal(formatIssue({ path: 'id', message: 'must be set' }), 'id: must be set')
    assert.equal(formatIssue({ path: 'id', message: 'id must be set' }), 'id must be set')
    assert.equal(formatIssue({ path: 'id', message: 'ideas must be set' }), 'id: ideas must be set')
    assert.equal(formatIssue({ path: '', message: 'must be set' }), 'must be set')
    assert.equal(formatIssue({ path: 'id', message: 'id' }), 'id: id')
  })
})
