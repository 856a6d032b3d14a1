import { closing } from './closing.ts'
import { readSettings, USAGE } from './config.ts'
import { describe } from './describe.ts'
import { start } from './start.ts'

/** Ctrl-C under npm arrives twice, from the terminal and from npm: that is still one wish. */
const SAME_WISH_MS = 400

const say = (text: string) => process.stderr.write(`${text}\n`)
const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}\n  ${textOf(error.cause)}`
}

function settingsOrExit() {
  try {
    return readSettings(process.argv.slice(2), process.env)
  } catch (error) {
    say(`${textOf(error)}\nUsage: ${USAGE}`)
    process.exit(2)
  }
}

const settings = settingsOrExit()
const ends = closing()
const stopping = new AbortController()
let told: number | undefined

async function finish(code: number): Promise<never> {
  const failed = await ends.close()
  for (const line of failed) say(`Not removed: ${line}`)
  process.exit(failed.length > 0 ? 1 : code)
}

/** Resolves with the exit code once there is a reason to end. */
const reasonToEnd = new Promise<number>((resolve) => {
  stopping.signal.addEventListener('abort', () => resolve(stopping.signal.reason === 'death' ? 1 : 0))
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (told === undefined) told = Date.now()
    else if (Date.now() - told > SAME_WISH_MS) process.exit(1)
    stopping.abort('told')
  })
}

// Whoever reads our output may go away before we do.
process.stdout.on('error', () => {})

try {
  const addresses = await start(settings, {
    closing: ends,
    signal: stopping.signal,
    onDeath: (what, lastLines) => {
      if (stopping.signal.aborted) return
      say(`${what} ended unexpectedly.${lastLines === undefined ? '' : `\n${lastLines}`}`)
      stopping.abort('death')
    },
    onLine: (line) => {
      if (settings.verbose) say(line)
    },
  })
  process.stdout.write(settings.json ? `${JSON.stringify(addresses)}\n` : `${describe(addresses)}\n`)
} catch (error) {
  if (!stopping.signal.aborted) say(textOf(error))
  // What is stopped from here on did not die by itself.
  stopping.abort('failed')
  await finish(told === undefined ? 1 : 0)
}
await finish(await reasonToEnd)
