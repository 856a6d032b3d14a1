import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { writeBundle } from './bundle.ts'

const began = performance.now()
execFileSync('npm', ['run', '--silent', 'build:web'], { stdio: 'inherit' })
await writeBundle(fileURLToPath(new URL('../dist', import.meta.url)), { isWhole: true })
process.stdout.write(`Wrote dist in ${((performance.now() - began) / 1_000).toFixed(1)} s.\n`)
