import { run } from './run.ts'
import { processTerminal } from './terminal/process-terminal.ts'

const { terminal, signal, flushed } = processTerminal(process)
process.exitCode = await run(process.argv.slice(2), process.env, { terminal, signal })
await flushed()
// Requests that nobody waits for any more would keep the process.
if (signal.aborted) process.exit()
