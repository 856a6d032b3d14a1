import { constants } from 'node:os'
import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Interruption } from './interruption.ts'
import type { Terminal } from './terminal.ts'

type Process = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'on' | 'exit'>

/** SIGHUP is a lost terminal. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The terminal of a process. The first signal ends the work, the second one the process. */
export function processTerminal(own: Process) {
  const { stdin, stdout, stderr } = own
  const controller = new AbortController()
  const { signal } = controller
  const interrupt = (name: (typeof SIGNALS)[number]) => {
    const interruption = new Interruption(128 + constants.signals[name])
    if (signal.aborted) own.exit(interruption.status)
    controller.abort(interruption)
  }
  for (const name of SIGNALS) own.on(name, interrupt)
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    // What is written to a lost terminal is lost; the work ends by the signal.
    if (code === 'EIO') return
    // `market orders | head` closes the pipe early, which is no error. It ends a stream of events.
    if (code === 'EPIPE') controller.abort(new Interruption(0))
    else {
      stderr.write(`error  The output cannot be written: ${code}.\n`)
      own.exit(1)
    }
  })
  // Nobody reads the messages. The exit status still says whether the command succeeded.
  stderr.on('error', () => {})
  const terminal: Terminal = {
    out: (written) => void stdout.write(written),
    error: (written) => void stderr.write(written),
    columns: () => columnsOf(stdout),
    errorColumns: () => columnsOf(stderr),
    outIsTerminal: stdout.isTTY === true,
    errorIsTerminal: stderr.isTTY === true,
    inputIsTerminal: stdin.isTTY === true,
    readInput: () => text(addAbortSignal(signal, stdin)),
    readHidden: (ask) => readHidden(stdin, signal, ask, () => interrupt('SIGINT')),
  }
  const flushed = () =>
    new Promise<void>((resolve) => {
      if (stdout.writableLength === 0) resolve()
      else stdout.write('', () => resolve())
    })
  return { terminal, signal, flushed }
}

/** Some terminals, such as those of scripts, have 0 columns. */
const columnsOf = ({ isTTY, columns }: NodeJS.WriteStream): number | undefined =>
  (isTTY && columns) || undefined

/** Ctrl-D ends the input like Enter. */
const ENTER = '\r\n\u0004'
const CTRL_C = '\u0003'
const BACKSPACE = /[\u007f\b]/

/** Reads a line from a terminal without showing it. A terminal in raw mode sends Ctrl-C as a character. */
function readHidden(
  stdin: NodeJS.ReadStream,
  signal: AbortSignal,
  ask: () => void,
  interrupt: () => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = ''
    const end = () => {
      stdin.setRawMode(false)
      stdin.off('data', onData)
      stdin.pause()
      signal.removeEventListener('abort', onAbort)
    }
    const onAbort = () => {
      end()
      reject(signal.reason)
    }
    const onData = (chunk: Buffer) => {
      for (const character of chunk.toString('utf8')) {
        if (character === CTRL_C) {
          interrupt()
          return
        }
        if (ENTER.includes(character)) {
          end()
          resolve(line)
          return
        }
        line = BACKSPACE.test(character) ? line.slice(0, -1) : line + character
      }
    }
    signal.addEventListener('abort', onAbort)
    stdin.setRawMode(true)
    stdin.resume()
    stdin.on('data', onData)
    ask()
  })
}
