import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Running } from './leash.ts'

export interface Program extends Running {
  /** The last lines it wrote, for saying why it ended. */
  lastLines(): string
}

const PROGRAM = fileURLToPath(new URL('./commands/run-program.ts', import.meta.url))
const KEPT_LINES = 15
const KILL_AFTER_MS = 8_000

/** What each program writes into its log once it is up. */
const UP = { api: '"msg":"listening"', worker: '"msg":"worker started"' } as const

/** Starts a program as a process of its own and waits until it is up. `folder` goes with it if we are killed. */
export async function startProgram(
  name: keyof typeof UP,
  folder: string,
  environment: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
): Promise<Program> {
  const program = spawn(process.execPath, [PROGRAM, name, folder], {
    env: { ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A session of its own: Ctrl-C in the terminal is for us, and we stop programs before what they stand on.
    detached: true,
  })
  const exited = once(program, 'exit')
  const lines: string[] = []
  const up = new Promise<void>((resolve) => {
    for (const input of [program.stdout, program.stderr]) {
      createInterface({ input }).on('line', (line) => {
        onLine(line)
        lines.push(line)
        if (lines.length > KEPT_LINES) lines.shift()
        if (line.includes(UP[name])) resolve()
      })
    }
  })
  const lastLines = () => lines.join('\n')
  const ended = exited.then(() => {
    throw new Error(`The ${name} ended before it was up:\n${lastLines()}`)
  })
  await Promise.race([up, ended])
  ended.catch(() => {})
  return {
    exited,
    lastLines,
    stop: async () => {
      if (program.exitCode !== null || program.signalCode !== null) return
      program.kill('SIGTERM')
      const timer = setTimeout(() => program.kill('SIGKILL'), KILL_AFTER_MS)
      await exited
      clearTimeout(timer)
    },
  }
}
