// Measures what a hostile request costs the server, after a build: node bench/attacks.js [--write]
//
// The CPU time of an error is that of a request that fails, less that of a request with the same bytes that succeeds.
// With --write, the tables go to docs/security.md.

import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { probe } from './load.js'
import { ServerProcess } from './process.js'
import { table } from './report.js'
import { median } from './statistics.js'

const WARM_REQUESTS = 10
const REQUESTS = 30
const MIB = 1_048_576
const BODY_BYTES = MIB
const PAGE = fileURLToPath(new URL('../docs/security.md', import.meta.url))

// Each entity is one more level of escapes.
const ENTITIES = `%26${'amp;'.repeat(34)}${'a,'.repeat(200)}`

// Forms of at most 1 MiB. Each is hostile to one part of a report.
const forms = {
  'one value of letters': 'a=',
  'one value, `%` escaped many times': `a=%22%26%2Bx+y%3D%${'25'.repeat(300)}41`,
  '`%25%25...`': ['a=', '%25'],
  '`%ff%ff...`, not UTF-8': ['a=', '%ff'],
  '`+++...`': ['a=', '+'],
  '`ab+ab+...`': ['a=', 'ab+'],
  'one URL in another, many times': ['a=', 'https%3A%2F%2Fa.example%2F%3Fb%3D'],
  '998 names of 1 kB, not UTF-8': Buffer.from(
    fields((i) => (i < 998 ? `${'\xff'.repeat(1_020)}+z${i}` : '')),
    'latin1',
  ),
  'fields without values, `&a&a...`, up to the limit of 1,000': fields((i) => `a${i}`),
  '1,000 fields of 1 kB': fields((i) => `f${i}=${'v'.repeat(1_000)}${i}`),
  '48 kB of Hangul, escaped in three ways': `a=%2541%5Cn%26lt%3B${hangul(16_000)}&b=1`,
  '65 kB of combining marks': `a=\n&amp;%252525252541${'\u0301\uff9e'.repeat(13_000)}`,
  '18 kB of short pieces that are not ASCII': `a=\n&b=${'đ,'.repeat(7_000)}`,
  '65 kB of ideographs between commas': `a=\n&b=${',中'.repeat(16_000)}`,
  '60 kB of one piece, which is not ASCII': `b=${'%C3%A91+\\='.repeat(6_000)}&c=1`,
  'empty fields, `&&...`': ['', '&'],
  '64 lists of 16 kB': fields((i) => (i < 64 ? `a${i}=b${'a,'.repeat(8_000)}a` : '')),
  '1,000 fields of `%2525...`': fields((i) => `f${i}=${'%2525'.repeat(200)}${i}`),
  '54 kB of fields with one value, `&amp;amp;...` and short pieces': fields((i) =>
    i < 100 ? `f${i}=${ENTITIES}` : '',
  ),
  '54 kB of fields, each with one more `amp;`': fields((i) =>
    i < 160 ? `f${i}=%26${'amp;'.repeat(i)}${'a,'.repeat(10)}` : '',
  ),
  '52 kB of values that are escaped seven times, with short pieces': fields((i) =>
    i < 120 ? `f${i}=${i}%25252525252541${'a,'.repeat(200)}` : '',
  ),
}

// Folded, each syllable becomes two or three letters.
function hangul(length) {
  const syllable = (_, i) => String.fromCharCode(0xac00 + ((i * 7_919) % 11_172))
  return Array.from({ length }, syllable).join('')
}

function fields(field) {
  return Array.from({ length: 999 }, (_, i) => field(i)).join('&')
}

// A part that is repeated fills the body; any other text is filled with letters.
function filled(form) {
  if (Buffer.isBuffer(form)) return form
  if (typeof form === 'string')
    return form.includes('&') ? form : form.padEnd(BODY_BYTES, 'abcdefgh')
  const [start, part] = form
  const count = Math.floor((BODY_BYTES - start.length) / part.length)
  return start + part.repeat(count)
}

function post(path, body, headers = []) {
  const bytes = Buffer.from(body)
  const type = 'Content-Type: application/x-www-form-urlencoded'
  const length = `Content-Length: ${bytes.length}`
  const head = [`POST ${path} HTTP/1.1`, 'Host: a', 'Connection: close', type, length, ...headers]
  return Buffer.concat([Buffer.from([...head, '', ''].join('\r\n')), bytes])
}

// 24 kB: a target of 8 kB, and headers of 16 kB.
function get(path, part) {
  const target = `${path}?a=`.padEnd(8_000, part)
  const cookie = `Cookie: a=${''.padEnd(15_000, part)}`
  return Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${cookie}\r\n\r\n`)
}

// 22 kB: fields and headers with one value.
function getWithEntities(path) {
  const query = Array.from({ length: 13 }, (_, i) => `f${i}=${ENTITIES}`).join('&')
  const headers = Array.from({ length: 26 }, (_, i) => `X-${i}: ${ENTITIES.replace('%26', '&')}`)
  return getWith(`${path}?${query}`, headers)
}

// Returns three letters for a number: digits would make most names tokens at once.
function toLetters(number) {
  return [676, 26, 1]
    .map((unit) => String.fromCharCode(97 + (Math.floor(number / unit) % 26)))
    .join('')
}

// Returns a text of two letters in an irregular order, and parts of it with 4 to 7 letters.
function shortWords(length, count) {
  let state = 7
  const text = Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state > 1_073_741_824 ? 'a' : 'b'
  }).join('')
  const parts = Array.from({ length: 4 * count }, (_, i) => text.slice(3 * i).slice(0, 4 + (i % 4)))
  return [text, ...[...new Set(parts)].slice(0, count)]
}

function getWithCookie(target, value) {
  return getWith(target, [`Cookie: a=${value}`])
}

function getWith(target, headers) {
  const lines = [`GET ${target} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers]
  return Buffer.from([...lines, '', ''].join('\r\n'), 'latin1')
}

// Names that differ in every request, so that each error is the first of its kind.
const errors = {
  404: (i) => `/${'n'.repeat(60)}${i}`,
  '400 that quotes the form': () => '/form/reject',
  '500 that quotes the form': () => '/form/fail',
  '500 that quotes nothing': () => '/form/short',
  '500 with 340 causes': () => '/form/chain',
}

async function measureCpu() {
  const server = await ServerProcess.start('attacked', 'W1')
  try {
    const rows = []
    for (const [name, form] of Object.entries(forms)) {
      const body = filled(form)
      rows.push([`POST, ${name}`, ...(await costs(server, (path) => post(path, body)))])
    }
    for (const part of ['abcdefgh', '%25', '%2525', '+', 'a+%ff', ',=%25.%E4%B8%AD=']) {
      rows.push([
        `GET of 24 kB, \`${part}\` repeated`,
        ...(await costs(server, (path) => get(path, part))),
      ])
    }
    for (const [bytes, part, start = ''] of [
      [15_000, 'é'],
      [5_000, ';é'],
      [7_900, '=1é'],
      [15_000, 'ABCDEFGHIJKLMN+é'],
      [7_900, '&a', 'é'],
      [7_900, 'A+', 'é'],
      [4_800, 'x1=', '\\.é'],
    ]) {
      rows.push([
        `GET, the message quotes a cookie of ${bytes / 1_000} kB, ${start && `\`${start}\` and then `}\`${part}\` repeated`,
        ...(await costs(server, (path) => getWithCookie(path, start.padEnd(bytes, part)))),
      ])
    }
    rows.push([
      'GET of 22 kB, fields and headers with one value, `&amp;amp;...` and short pieces',
      ...(await costs(server, getWithEntities)),
    ])
    for (const [name, count] of [
      ['etaoinsh', 800],
      ['a_b-c.'.repeat(10), 120],
    ]) {
      const names = Array.from({ length: count }, (_, i) => name.slice(0, -3) + toLetters(i))
      const query = names.join('&')
      const cookie = 'abcdefgh'.repeat(1_900)
      rows.push([
        `GET of 23 kB, ${count} names of ${name.length} characters`,
        ...(await costs(server, (path) => getWithCookie(`${path}?${query}`, cookie))),
      ])
    }
    const nested = (count) =>
      Array.from({ length: count }, (_, i) => `f${i}=%25252541${'%5Cn%1'.repeat(9)}`).join('&')
    for (const [name, query, value] of [
      ['GET of 1.3 kB, 20 fields that are escaped in two ways', nested(20), 'a'],
      ['GET of 16 kB, 16 such fields and 7,500 cookies', nested(16), ';%'.repeat(7_500)],
      [
        'GET, the message quotes a cookie of 7 kB of two letters, and short values begin everywhere in it',
        'b=aaaa&c=abab&d=bbab&e=babbb',
        shortWords(7_000, 0)[0],
      ],
    ]) {
      rows.push([
        name,
        ...(await costs(server, (path) => getWithCookie(`${path}?${query}`, value))),
      ])
    }
    // Each part of the text is a part of the header.
    const parts = Array.from({ length: 900 }, (_, i) => `......${toLetters(i).slice(1)}`)
    const words = `&${'a.'.repeat(31)}=1`.repeat(600)
    rows.push([
      'POST, the message quotes 900 parts of a header, with 38 kB of short words',
      ...(await costs(server, (path) =>
        post(path, `a=${parts.join('~')}${words}`, [`X-A: ${parts.join('')}`]),
      )),
    ])
    const numbers = '$12345678.5 '
    rows.push([
      'POST, the message quotes 1 kB of a header of 14 kB, a number repeated',
      ...(await costs(server, (path) =>
        post(path, `a=${numbers.repeat(80)}`, [`X-A: ${numbers.repeat(1_166)}`]),
      )),
    ])
    const sentText = `title=${shortWords(1_000, 0)[0]}&text=${shortWords(20_000, 0)[0]}&z=%41`
    rows.push([
      'POST, the message quotes 1 kB of 21 kB of two letters',
      ...(await costs(server, (path) => post(path, sentText))),
    ])
    const [text, ...values] = shortWords(11_000, 150)
    rows.push([
      'POST, the message quotes 11 kB of two letters, with 150 short values that end inside of its words',
      ...(await costs(server, (path) =>
        post(path, [`a=%C3%A9+${text}`, ...values.map((word, i) => `b${i}=${word}`)].join('&')),
      )),
    ])
    const [long, ...more] = shortWords(11_000, 170)
    const names = Array.from(
      { length: 530 },
      (_, i) => 'interAction'.repeat(6).slice(3) + toLetters(i),
    )
    rows.push([
      'POST, the same with 170 values and 530 names of 66 characters',
      ...(await costs(server, (path) =>
        post(path, [`a=${long}`, ...more.map((word, i) => `b${i}=${word}`), ...names].join('&')),
      )),
    ])
    const ideographs = shortWords(11_000, 400).map((each) =>
      each.replaceAll('a', '中').replaceAll('b', '1'),
    )
    const fours = ideographs.filter(({ length }) => length === 4)
    rows.push([
      'POST, the message quotes 11,000 characters, `中` and `1`, where short values are everywhere',
      ...(await costs(server, (path) =>
        post(path, [`a=${ideographs[0]}`, ...fours.map((each, i) => `b${i}=${each}`)].join('&')),
      )),
    ])
    rows.push([
      'POST, 48 kB of U+FA0E, escaped in five ways',
      ...(await costs(server, (path) => post(path, `a=%2525252541${'\ufa0e'.repeat(16_000)}`))),
    ])
    const dashes = [4, 5, 6, 7].map((length) => `p${length}=${'%2D'.repeat(length)}`).join('&')
    const cookie = `${'-'.repeat(3_000)}%25252525252541`
    rows.push([
      'GET, the message quotes a cookie of 3 kB of `-`, and short values occur in it everywhere',
      ...(await costs(server, (path) => getWithCookie(`${path}?${dashes}`, cookie))),
    ])
    return rows
  } finally {
    await server.stop()
  }
}

// Returns milliseconds: of a request that succeeds, and for each kind of error the median and the maximum above it.
async function costs(server, request) {
  const accepted = median(await cpuMs(server, () => request('/form/save')))
  const cells = [accepted.toFixed(1)]
  for (const path of Object.values(errors)) {
    const failed = await cpuMs(server, (i) => request(path(i)))
    const above = (ms) => Math.max(0, ms - accepted).toFixed(1)
    cells.push(`${above(median(failed))} (${above(Math.max(...failed))})`)
  }
  console.error(cells.join(' '))
  return cells
}

async function cpuMs(server, request) {
  const ms = []
  for (let i = 0; i < WARM_REQUESTS + REQUESTS; i++) {
    const before = await server.cpuNs()
    await probe(server.port, request(i))
    ms.push(((await server.cpuNs()) - before) / 1e6)
  }
  return ms.slice(WARM_REQUESTS)
}

// Attacks on the memory. Each opens connections, sends its bytes, and stays until the memory is measured.
const memoryAttacks = {
  '8 forms of 1 MiB in chunks of 1 byte': {
    connections: 8,
    bytes: oneByteChunks(),
  },
  '1 connection, 64 pipelined requests for 1 MiB each, nothing is read': {
    connections: 1,
    bytes: pipelined(64),
  },
  '1,000 connections with half a head of 8 KiB': {
    connections: 1_000,
    bytes: Buffer.from(`GET /${'a'.repeat(8_000)}`),
  },
}

function oneByteChunks() {
  const head =
    'POST /form/save HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n'
  return Buffer.from(
    `${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(BODY_BYTES - 1)}`,
  )
}

function pipelined(count) {
  return Buffer.from('GET /form/large HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count))
}

async function measureMemory() {
  const rows = []
  for (const [name, attack] of Object.entries(memoryAttacks)) {
    rows.push([name, `${await grownMib(attack)} MiB`])
  }
  return rows
}

async function grownMib({ connections, bytes }) {
  const server = await ServerProcess.start('attacked', 'W1', { nodeOptions: ['--expose-gc'] })
  try {
    await probe(server.port, post('/form/save', 'a=1'))
    const before = await usedBytes(server)
    const sockets = Array.from({ length: connections }, () => connect(server.port, '127.0.0.1'))
    for (const socket of sockets) socket.on('error', () => {}).pause()
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (const socket of sockets) socket.write(bytes)
    // The server has no event for "all bytes are read", so it gets the time.
    await delay(3_000)
    const after = await usedBytes(server)
    for (const socket of sockets) socket.destroy()
    return ((after - before) / MIB).toFixed(1)
  } finally {
    await server.stop()
  }
}

async function usedBytes(server) {
  const { heapUsed, external } = await server.measure('memory')
  return heapUsed + external
}

const cpu = table(['request', 'accepted', ...Object.keys(errors)], await measureCpu())
const memory = table(['attack', 'memory of the server'], await measureMemory())
const text = `${cpu}\n\n${memory}`
console.log(text)
if (process.argv.includes('--write')) {
  const page = readFileSync(PAGE, 'utf8')
  const marked = /(<!-- attacks -->\n)[\s\S]*(<!-- \/attacks -->)/
  writeFileSync(
    PAGE,
    page.replace(marked, (_, start, end) => `${start}${text}\n${end}`),
  )
}
