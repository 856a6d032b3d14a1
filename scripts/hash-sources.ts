import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Everything that decides what a bundle contains. */
const SOURCES = [
  '{apps/{api,worker,web},packages/*}/{package.json,src/**/*.ts}',
  'apps/web/{vite.config.ts,public/*,src/app/**/*.{tsx,css}}',
  'packages/database/migrations/*.sql',
  'docs/{contract,guides}/*.md',
  'scripts/{bundle,notice}.ts',
  'package-lock.json',
]

const isIrrelevant = (file: string) => file.endsWith('.test.ts') || file.startsWith('packages/testing/')

/** A hash of the sources that a bundle is built from, and of `more` files. */
export function hashSources(more: readonly string[] = []): string {
  const files = globSync([...SOURCES, ...more], { cwd: ROOT })
    .filter((file) => !isIrrelevant(file))
    .sort()
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(ROOT, file)))
      .update('\0')
  return hash.digest('hex')
}
