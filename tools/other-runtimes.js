// Runs the tests of the core on Bun and Deno, which npm installs into a temporary folder. Skips a runtime that does
// not install. Fails if a test fails that is not listed here. Needs the built tests: node tools/other-runtimes.js
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const rooms = [
  'http',
  'routing',
  'dispatch',
  'scrubbing',
  'reporting',
  'controllers',
  'inspect',
  'server',
]
const TIMEOUT_MS = 600_000

// `skipped` are files that the runtime cannot run, `known` are tests that fail there, each with the reason.
const runtimes = {
  bun: {
    args: ['test', '--timeout=20000'],
    failure: /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/gm,
    skipped: {
      'controllers/syntax-error': 'expects the messages of V8',
      'server/client-error': 'the parser of Bun reports other codes',
      'server/close-slowly-tls': 'tests the parser of Node',
      'server/drain': 'server.close() of Bun closes idle connections at once',
      'server/half-close':
        'Bun drops pipelined requests, and does not tell of a half-closed connection',
      'server/incoming-request': 'a test of malformed bytes hangs',
      'server/pipeline': 'Bun reads on while a connection is paused',
      'server/server-stop-busy':
        'Bun drops pipelined requests, and end() of its responses does not call writeHead()',
      'server/upgrade': 'Bun drops pipelined requests',
    },
    known: [
      [/^loadControllers\(\) > names the/, 'expects the messages and stacks of V8'],
      [/^loadControllers\(\) > .*await in a package/, 'Bun cannot require() such a file'],
      [/^scrubAll\(\) of one text > withholds what V8/, 'expects the messages of V8'],
      [/^(?:createDetails|locateFrame)\(\) > /, 'expects the stacks of V8'],
      [/^knownWords\(\) > shows the messages of V8/, 'expects the messages of V8'],
      [/^locateFunctions\(\) > |^listActions\(\) > (?:locates|marks)/, 'Bun locates no function'],
      [/^helmet\(\) and compression\(\).* > compress/, 'undici of Bun decompresses responses'],
      [/^The HttpError of another copy/, 'Bun loads no second copy of a file'],
      [/^readBody\(\) > keeps at most twice/, 'calls gc() of V8'],
      [/^Deadlines.*uses one timer/, 'Bun does not list timers as active resources'],
      [/^IncomingRequest.protocol > is https/, 'the TLS of Bun has no anonymous ciphers'],
      [
        /^incomingMessageOf\(\) > returns a message that emits/,
        'a message of Bun does not emit both',
      ],
      [/^createRequestListener\(\) > sends a 500 without/, 'undici of Bun ignores the dispatcher'],
      [
        /^new Dispatcher\(\) > rejects an instance of a built-in/,
        'Bun names the class of a Buffer',
      ],
      [/^Connection.latest > /, 'each new response of Bun has a socket'],
      [/^The bytes behind the last request/, 'Bun reads on while a connection is paused'],
      [/^The last response of a connection > is not the one/, 'Bun drops pipelined requests'],
      [
        /^The last response .* > (?:requests|junk|an unread body) .*"Connection: close"$/,
        'Bun closes a connection with unread bytes at once',
      ],
      [
        /^helmet\(\) and compression\(\).* > lose no response/,
        'Bun closes a connection with unread bytes at once',
      ],
      [
        /^The option "before" > may (?:make the response impossible|end the connection later)/,
        'Bun drops pipelined requests',
      ],
      [
        /^The option onAccess > is called for responses that are queued/,
        'Bun drops pipelined requests',
      ],
      [
        /^Exchange > responds to OPTIONS with the target|^The option idHeader .* OPTIONS/,
        'Bun responds to the target * with 400',
      ],
      [
        /^writeResponse\(\) with a stream > reports one that fails after/,
        'a message of Bun tells the cookies that were sent, which changes the label of a masked one',
      ],
      [/^The stack of a 404 > has no frames/, 'expects the stacks of V8'],
      [
        /^withPublicFiles > streams a file of 1 GB/,
        'sometimes: Bun runs all files in one process, whose collector takes the memory of earlier ones back late',
      ],
      [/^The limits of a server > let any number/, 'the parser of Bun rejects 200 fields'],
    ],
  },
  deno: {
    args: ['test', '--allow-all', '--no-check', '--no-lock'],
    failure: /^(.* \.\.\. .*?) => /gm,
    skipped: {
      'controllers/syntax-error': 'expects the messages of Node',
      'dispatch/deadlines': 'Deno does not reset the mocks of a test at its end',
      'reporting/log': 'Deno does not reset the mocks of a test at its end',
      'reporting/reporter': 'Deno does not reset the mocks of a test at its end',
      'server/client-error': 'the parser of Deno reports other codes',
      'server/close-slowly': 'Deno does not reset the mocks of a test at its end',
      'server/close-slowly-tls': 'tests the parser of Node, over TLS with a shared key',
      'server/drain': 'the test of the deadline hangs',
      'server/half-close': 'Deno does not tell of a connection that a client has half closed',
      'server/incoming-request': 'the test of the events of a message hangs',
      'server/pipeline': 'a test hangs',
      'server/public-files': 'Deno does not reset the mocks of a test at its end',
    },
    known: [
      [/^loadControllers\(\) .* names the/, 'expects the messages and stacks of Node'],
      [/^createDetails\(\) /, 'the frames of a Deno test have no file'],
      [
        /^FrontController.* shows the error and its place/,
        'the frames of a Deno test have no file',
      ],
      [/^makeReport\(\) /, 'the frames of a Deno test have no file'],
      [
        /^fingerprintOf\(\) .* (?:contains no frame|has a frame, also)/,
        'the frames of a Deno test are those of its source',
      ],
      [/^knownWords\(\) .* shows the messages of V8/, 'expects the messages of Node'],
      [/^locateFunctions\(\) |^listActions\(\) .*(?:locates|marks)/, 'Deno locates no function'],
      [
        /^handleUpgrades\(\) .* of another version|^The counts of a service .* no valid request/,
        'the parser of Deno reports another code',
      ],
      [/^The stack of a 404 .* frozen Error/, 'starts itself with the flags of Node'],
      [/^The last response .* arrives whole/, 'Deno closes a connection with unread bytes at once'],
      [
        /^FrontController.* sends on by fetch/,
        'fetch() of Deno passes on only the message of the error of a body',
      ],
    ],
  },
}

const folder = mkdtempSync(join(tmpdir(), 'portico-runtimes-'))
try {
  for (const [name, runtime] of Object.entries(runtimes)) run(name, runtime)
} finally {
  rmSync(folder, { recursive: true })
}

function run(name, { args, failure, skipped, known }) {
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--silent']
  execute('npm', ['install', '--prefix', folder, ...quiet, name])
  const program = join(folder, 'node_modules', '.bin', name)
  const version = execute(program, ['--version'])
  if (version.status !== 0) {
    console.log(`${name}: skipped, because it does not install here`)
    return
  }
  const result = execute(program, [...args, ...testFiles(skipped)])
  const output = `${result.stdout}${result.stderr}`.replace(/\x1b\[\d*(?:;\d+)*m/g, '')
  const failed = [...new Set([...output.matchAll(failure)].map(([, test]) => test))]
  const unknown = failed.filter((test) => !known.some(([pattern]) => pattern.test(test)))
  console.log(
    `${name} ${version.stdout.trim()}: ${output
      .match(/.*\d+ pass.*/g)
      ?.at(-1)
      ?.trim()}`,
  )
  for (const [file, reason] of Object.entries(skipped)) console.log(`  skipped: ${file}: ${reason}`)
  for (const [pattern, reason] of known) {
    const tests = failed.filter((test) => pattern.test(test)).length
    console.log(`  ${tests} known failures: ${pattern.source}: ${reason}`)
  }
  if (result.signal === null && unknown.length === 0 && (result.status === 0 || failed.length > 0))
    return
  console.log(
    `${output}\n${name} fails: ${unknown.join('\n  ') || `exit ${result.status ?? result.signal}`}`,
  )
  process.exitCode = 1
}

function testFiles(skipped) {
  return rooms.flatMap((room) =>
    readdirSync(join(root, 'dist/test', room))
      .filter((file) => file.endsWith('.test.js'))
      .map((file) => `${room}/${file.replace('.test.js', '')}`)
      .filter((test) => skipped[test] === undefined)
      .map((test) => `./dist/test/${test}.test.js`),
  )
}

function execute(program, args) {
  const options = { cwd: root, encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: 2 ** 26 }
  return spawnSync(program, args, options)
}
