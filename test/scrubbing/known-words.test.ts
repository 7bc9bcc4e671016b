import assert from 'node:assert/strict'
import dns from 'node:dns'
import { describe, it } from 'node:test'
import { isKnownName, knownWords } from '../../lib/scrubbing/known-words.ts'

/** Returns what an expression of JavaScript throws. */
function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  return assert.fail('Nothing was thrown')
}

describe('knownWords()', () => {
  it('shows the words of an error message, and the shapes of all others', () => {
    const table: [text: string, shown: string][] = [
      ['connect ECONNREFUSED 10.0.0.7:5432', 'connect ECONNREFUSED token(13)'],
      ['No article "4/0AfJohXkq9"', 'No word(7) "token(12)"'],
      ["Cannot read properties of undefined (reading 'id')", ''],
      ['The read-only connection (to the host) is closed!', ''],
      ['A value of type symbol was thrown', ''],
      ['It was CANARY, c4n4ry, canary', 'It was word(6), token(6), word(6)'],
      ['TypeError: ERR_INVALID_ARG_TYPE -> ENOENT', ''],
      ['duplicate key (email)=(alice@example.com)', 'duplicate key (token(25))'],
      ['the\n\tstream\u2028ended', 'the stream ended'],
      ['correct-horse-battery 4111111111111111', 'word(21) digits(16)'],
      ["can't open https://a.example/?code=SECRET", "can't open url?"],
      ['', 'empty'],
      ['naïve', 'text(5)'],
    ]
    for (const [text, shown] of table) assert.equal(knownWords(text), shown || text)
  })

  it('shows no spelling of a known word that a value may have', () => {
    for (const word of [
      'EVELYN',
      'THE',
      'tHe',
      'the1',
      'the.end',
      'xENOENT',
      '(((the',
      '__proto__',
    ]) {
      assert.notEqual(knownWords(word), word)
    }
  })

  it('shows the messages of V8 and Node, except what they quote', () => {
    const value: unknown = undefined
    const missing = {} as { secret(): void }
    const table: [work: () => unknown, shown: string][] = [
      [() => (value as Error).name, "Cannot read properties of undefined (reading 'name')"],
      [() => JSON.parse(''), 'Unexpected end of JSON input'],
      [() => missing.secret(), 'word(14) is not a function'],
      [() => new Array(-1), 'Invalid array length'],
      [() => BigInt(1.5), ''],
      [() => structuredClone(() => 1), ''],
      [() => JSON.parse('{"a":SECRET}'), ''],
      [() => new URL('SECRET'), 'Invalid URL'],
    ]
    for (const [work, shown] of table) {
      const text = knownWords(messageOf(work))
      assert.doesNotMatch(text, /SECRET/)
      if (shown !== '') assert.equal(text, shown)
    }
  })

  it('shows the messages of the network errors of Node', () => {
    for (const text of [
      'socket hang up',
      'Premature close',
      'read ECONNRESET',
      'This socket has been ended by the other party',
      'Client network socket disconnected before secure TLS connection was established',
      'self-signed certificate in certificate chain',
      'unable to verify the first certificate',
      'unable to get local issuer certificate',
      'certificate is not yet valid',
      "Hostname/IP does not match certificate's altnames",
      'Connection terminated unexpectedly',
      'Cannot set headers after they are sent to the client',
      'The operation was aborted due to timeout',
      'other side closed',
      'JS heap out of memory',
      'Invalid regular expression: missing /',
      'Reduce of empty array with no initial value',
      'canceling statement due to statement timeout',
    ]) {
      assert.equal(knownWords(text), text)
    }
    assert.equal(knownWords('getaddrinfo ENOTFOUND db.x'), 'getaddrinfo ENOTFOUND word(4)')
    assert.equal(knownWords('spawn git ENOENT'), 'spawn word(3) ENOENT')
  })

  it('examines 640 characters, and shows no part of a word', () => {
    const text = `${'the '.repeat(159)}these${'x'.repeat(1_000_000)}`
    assert.equal(knownWords(text), `${'the '.repeat(159).trim()}...`)
    assert.equal(knownWords('x'.repeat(1_000_000)), '...')
  })
})

describe('isKnownName()', () => {
  it('is true for codes of the system, and for names and codes of known words', () => {
    const known =
      'ECONNREFUSED ENOTFOUND EADDRINUSE ERR_INVALID_ARG_TYPE ERR_HTTP_HEADERS_SENT ERR_STREAM_PREMATURE_CLOSE ' +
      'ERR_MODULE_NOT_FOUND ERR_UNHANDLED_REJECTION ERR_TLS_CERT_ALTNAME_INVALID HPE_INVALID_METHOD HPE_HEADER_OVERFLOW ' +
      'Error TypeError RangeError SyntaxError ReferenceError EvalError URIError AggregateError AbortError TimeoutError ' +
      'HttpError NoControllerError NoActionError NoRouteError ThrownValueError ValidationError MalformedMessageError ' +
      'ClientGoneError ServerClosingError ABORT_ERR MODULE_NOT_FOUND UND_ERR_SOCKET UND_ERR_CONNECT_TIMEOUT ' +
      'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH UND_ERR_MAX_ORIGINS_REACHED UND_ERR_PRX_TLS'
    for (const name of known.split(' ')) assert.equal(isKnownName(name), true, name)
    const unknown =
      'EXAMPLEPASSWORD EHUNTERTWO ERR_HUNTER_TWO UND_HUNTER UND_TOKEN ABORT_MAX Hunter2PasswordError HunterError hunter2 reset'
    for (const name of [...unknown.split(' '), `ERR_${'ERROR_'.repeat(50)}ERROR`]) {
      assert.equal(isKnownName(name), false, name)
    }
  })

  it('is true for the codes of node:dns', () => {
    const codes = Object.values(dns).filter((code) => typeof code === 'string')
    assert.ok(codes.length > 20)
    assert.deepEqual(
      codes.filter((code) => !isKnownName(code)),
      [],
    )
  })

  it('shows the codes of the parser, of which a client causes the first ones', () => {
    const codes = [
      'HPE_INVALID_TRANSFER_ENCODING',
      'HPE_INVALID_HEADER_TOKEN',
      'HPE_INVALID_CHUNK_SIZE',
      'HPE_UNEXPECTED_CONTENT_LENGTH',
      'HPE_CR_EXPECTED',
      'HPE_LF_EXPECTED',
      'HPE_CHUNK_EXTENSIONS_OVERFLOW',
      'HPE_HEADER_OVERFLOW',
      'HPE_CLOSED_CONNECTION',
      'HPE_INVALID_EOF_STATE',
      'HPE_PAUSED_UPGRADE',
      'HPE_CB_CHUNK_EXTENSION_VALUE_COMPLETE',
    ]
    assert.deepEqual(
      codes.filter((code) => !isKnownName(code)),
      [],
    )
  })
})
