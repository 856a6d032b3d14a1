import { text } from 'node:stream/consumers'
import type { Terminal } from './terminal.ts'

/** What the shell reports for a program that Ctrl-C ended. */
export const INTERRUPTED = 130

type Process = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'on' | 'exit'>

/** The terminal of a process. The first Ctrl-C ends the work, the second one the process. */
export function processTerminal(own: Process) {
  const { stdin, stdout, stderr } = own
  const controller = new AbortController()
  const interrupt = () => {
    if (controller.signal.aborted) own.exit(INTERRUPTED)
    controller.abort()
  }
  own.on('SIGINT', interrupt)
  own.on('SIGTERM', interrupt)
  // A lost terminal.
  own.on('SIGHUP', interrupt)
  // `market orders | head` closes the pipe early, which is no error.
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // What is written to a lost terminal is lost; the work ends by the signal.
      if (error.code === 'EIO') return
      if (error.code !== 'EPIPE') throw error
      own.exit(0)
    })
  const terminal: Terminal = {
    out: (written) => void stdout.write(written),
    error: (written) => void stderr.write(written),
    columns: () => (stdout.isTTY ? stdout.columns : undefined),
    outIsTerminal: stdout.isTTY === true,
    errorIsTerminal: stderr.isTTY === true,
    inputIsTerminal: stdin.isTTY === true,
    readInput: () => text(stdin),
    readHidden: () => readHidden(stdin, controller.signal),
  }
  const flushed = () =>
    new Promise<void>((resolve) => {
      if (stdout.writableLength === 0) resolve()
      else stdout.write('', () => resolve())
    })
  return { terminal, signal: controller.signal, flushed }
}

const ENTER = /[\r\n]/
const CTRL_C = '\u0003'
const BACKSPACE = /[\u007f\b]/

/** Reads a line from a terminal without showing it. */
function readHidden(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = ''
    const end = () => {
      stdin.setRawMode(false)
      stdin.off('data', onData)
      stdin.pause()
    }
    const onData = (chunk: Buffer) => {
      for (const character of chunk.toString('utf8')) {
        if (character === CTRL_C) {
          end()
          reject(signal.reason ?? new DOMException('The input was cancelled.', 'AbortError'))
          return
        }
        if (ENTER.test(character)) {
          end()
          resolve(line)
          return
        }
        line = BACKSPACE.test(character) ? line.slice(0, -1) : line + character
      }
    }
    stdin.setRawMode(true)
    stdin.resume()
    stdin.on('data', onData)
  })
}
