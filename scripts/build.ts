import { fileURLToPath } from 'node:url'
import { writeBundle } from './bundle.ts'

const began = performance.now()
await writeBundle(fileURLToPath(new URL('../dist', import.meta.url)))
process.stdout.write(`Wrote dist in ${((performance.now() - began) / 1_000).toFixed(1)} s.\n`)
