import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { hashFile, type Program, programFile } from './bundle.ts'
import { hashSources } from './hash-sources.ts'

/** Starts a program from dist, unless dist is missing or was built from other sources than those of this checkout. */
const DIST = fileURLToPath(new URL('../dist', import.meta.url))
const program = process.argv[2] as Program
if (process.argv.includes('--help')) {
  process.stdout.write(
    `npm run start:${program}\n\nStarts the ${program} from dist. Its settings are environment variables: docs/operations/configuration.md\n`,
  )
  process.exit(0)
}
const file = programFile(DIST, program)

function whyNot(): string | undefined {
  if (!existsSync(file)) return `dist/bin/${program}.mjs does not exist`
  const isCurrent = readFileSync(hashFile(DIST), 'utf8').trim() === hashSources()
  return isCurrent ? undefined : 'dist was built from other sources than those of this checkout'
}

const reason = whyNot()
if (reason !== undefined) {
  process.stderr.write(`${reason}. Run \`npm run build\`, then start again.\n`)
  process.exit(1)
}
await import(pathToFileURL(file).href)
