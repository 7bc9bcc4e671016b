// Finds versions of Node, and downloads those that are not installed.

import { execFileSync } from 'node:child_process'

/** Returns the path of a version of Node, such as `24`. This process's own version needs no download. */
export function pathOfNode(version) {
  if (process.version.startsWith(`v${version}.`)) return process.execPath
  const args = ['--yes', `node@${version}`, '-p', 'process.execPath']
  return execFileSync('npx', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}
