import { run } from './run.ts'
import type { Terminal } from './terminal/terminal.ts'

/** A terminal that records what is written to it. Nothing of it is a TTY unless given. */
function recordingTerminal(input: string, fields: Partial<Terminal> = {}) {
  const written = { out: '', error: '' }
  const terminal: Terminal = {
    out: (text) => {
      written.out += text
    },
    error: (text) => {
      written.error += text
    },
    columns: () => undefined,
    errorColumns: () => undefined,
    outIsTerminal: false,
    errorIsTerminal: false,
    inputIsTerminal: false,
    readInput: async () => input,
    readHidden: async (ask) => {
      ask()
      return input
    },
    ...fields,
  }
  return { terminal, written }
}

interface Process {
  readonly input?: string
  readonly terminal?: Partial<Terminal>
  readonly signal?: AbortSignal
}

/** Runs the program without a process. */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { input = '', terminal: fields, signal = new AbortController().signal }: Process = {},
) {
  const { terminal, written } = recordingTerminal(input, fields)
  const status = await run(args, environment, { terminal, signal })
  return { status, ...written }
}
