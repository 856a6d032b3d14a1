import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hashSources } from '../../scripts/hash-sources.ts'

const HASH = fileURLToPath(new URL('../../apps/web/dist/sources.sha256', import.meta.url))

/** Vitest's global set-up: the tests in a browser share one build of the pages, which is made again after a change. */
export default async function setup(): Promise<void> {
  const hash = hashSources()
  if (existsSync(HASH) && readFileSync(HASH, 'utf8') === hash) return
  await promisify(execFile)('npm', ['run', '--silent', 'build:web'])
  writeFileSync(HASH, hash)
}
