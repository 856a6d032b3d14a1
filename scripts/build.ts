import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { programFile, writeBundle } from './bundle.ts'

const pathOf = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const began = performance.now()
const dist = pathOf('dist')
await writeBundle(dist)
// `npm pack` takes it from there.
cpSync(programFile(dist, 'mcp-stdio'), pathOf('packages/mcp-stdio/dist/mcp-stdio.mjs'))
process.stdout.write(`Wrote dist in ${((performance.now() - began) / 1_000).toFixed(1)} s.\n`)
