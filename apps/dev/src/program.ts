import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { RunningProcess } from './supervised-server.ts'

export interface Program extends RunningProcess {
  /** The last lines of its output, for the error message. */
  lastLines(): string
  /** Ends it without giving it the time to finish. */
  kill(): Promise<void>
}

const PROGRAM = fileURLToPath(new URL('./commands/run-program.ts', import.meta.url))
const MAX_LINES = 15
const KILL_AFTER_MS = 8_000

/** The log line of each program once it is up. */
const UP = {
  api: '"msg":"listening"',
  worker: '"msg":"worker started"',
  web: '"msg":"listening"',
  'web-live': '"msg":"listening"',
} as const

/** Starts a program in a separate process and waits until it is up. It removes `folder` if this process is killed. */
export async function startProgram(
  name: keyof typeof UP,
  folder: string,
  environment: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
): Promise<Program> {
  const program = spawn(process.execPath, [PROGRAM, name, folder], {
    env: { ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    // In a separate session Ctrl-C does not reach the program; this process stops it before the servers it uses.
    detached: true,
  })
  const exited = once(program, 'exit')
  const lines: string[] = []
  const up = new Promise<void>((resolve) => {
    for (const input of [program.stdout, program.stderr]) {
      createInterface({ input }).on('line', (line) => {
        onLine(line)
        lines.push(line)
        if (lines.length > MAX_LINES) lines.shift()
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
    kill: async () => {
      program.kill('SIGKILL')
      await exited
    },
    stop: async () => {
      if (program.exitCode !== null || program.signalCode !== null) return
      program.kill('SIGTERM')
      const timer = setTimeout(() => program.kill('SIGKILL'), KILL_AFTER_MS)
      await exited
      clearTimeout(timer)
    },
  }
}
