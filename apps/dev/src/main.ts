import { createCleanup } from './cleanup.ts'
import { HELP, readSettings, USAGE } from './config.ts'
import { printableAddresses } from './print-addresses.ts'
import { start } from './start.ts'

/** Under npm one Ctrl-C arrives as two signals, from the terminal and from npm. */
const SAME_SIGNAL_MS = 400

const printError = (text: string) => process.stderr.write(`${text}\n`)
const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}\n  ${textOf(error.cause)}`
}

function settingsOrExit() {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(HELP)
    process.exit(0)
  }
  try {
    return readSettings(process.argv.slice(2), process.env)
  } catch (error) {
    printError(`${textOf(error)}\nUsage: ${USAGE}`)
    process.exit(2)
  }
}

const settings = settingsOrExit()
const cleanup = createCleanup()
const stopping = new AbortController()
let signaledAt: number | undefined

async function finish(code: number): Promise<never> {
  const failed = await cleanup.run()
  for (const line of failed) printError(`Not removed: ${line}`)
  process.exit(failed.length > 0 ? 1 : code)
}

/** Resolves with the exit code when a signal arrives or a part ends. */
const exitCode = new Promise<number>((resolve) => {
  stopping.signal.addEventListener('abort', () => resolve(stopping.signal.reason === 'exited' ? 1 : 0))
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (signaledAt === undefined) signaledAt = Date.now()
    else if (Date.now() - signaledAt > SAME_SIGNAL_MS) process.exit(1)
    stopping.abort('signal')
  })
}

// The reader of our output can close the pipe before this process ends.
process.stdout.on('error', () => {})

try {
  const addresses = await start(settings, {
    cleanup,
    signal: stopping.signal,
    onExit: (name, lastLines) => {
      if (stopping.signal.aborted) return
      printError(`${name} ended unexpectedly.${lastLines === undefined ? '' : `\n${lastLines}`}`)
      stopping.abort('exited')
    },
    onLine: (line) => {
      if (settings.verbose) printError(line)
    },
    onProgress: (line) => {
      if (!settings.json) printError(line)
    },
    onNotice: printError,
  })
  process.stdout.write(
    settings.json ? `${JSON.stringify(addresses)}\n` : `${printableAddresses(addresses)}\n`,
  )
} catch (error) {
  if (!stopping.signal.aborted) printError(textOf(error))
  // From here on, parts end because the cleanup stops them.
  stopping.abort('failed')
  await finish(signaledAt === undefined ? 1 : 0)
}
await finish(await exitCode)
