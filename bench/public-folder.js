// Writes the file of F1 into a folder of the system's temporary files, and returns the folder.

import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FILE_TEXT } from './workloads.js'

export function publicFolder() {
  const folder = join(tmpdir(), 'portico-bench-public')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'a.txt'), FILE_TEXT)
  return folder
}
