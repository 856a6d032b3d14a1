import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { runProgram } from '../test-program.ts'
import { Interruption } from './interruption.ts'
import { processTerminal } from './process-terminal.ts'
import { ERASE_LINE, showProgress } from './terminal.ts'

const AWAY = { XDG_CONFIG_HOME: '/nonexistent', MARKET_API_URL: 'http://127.0.0.1:2' }
const TTY = { terminal: { outIsTerminal: true, errorIsTerminal: true } }

test.each([
  ['on a terminal', [], {}, TTY, true],
  ['with NO_COLOR, which is about colours only', [], { NO_COLOR: '1' }, TTY, true],
  ['with --json', ['--json'], {}, TTY, false],
  ['on a dumb terminal', [], { TERM: 'dumb' }, TTY, false],
  ['where stderr is not a terminal', [], {}, { terminal: { outIsTerminal: true } }, false],
] as const)('progress %s', async (_, args, environment, process, isShown) => {
  const { status, out, error } = await runProgram(['doctor', ...args], { ...AWAY, ...environment }, process)
  expect(status).toBe(1)
  expect(out).not.toContain('Checking')
  // Each frame is the erased line and the text: no colours.
  const frames = error.split(ERASE_LINE)
  expect(frames.slice(0, 2)).toEqual(isShown ? ['', '⠋ Checking …'] : [''])
  expect(frames.at(-1)).toBe('')
})

test('progress: a text that is too long or has control characters takes one row', () => {
  let written = ''
  const terminal = {
    error: (text: string) => {
      written += text
    },
    errorColumns: () => 20,
  }
  showProgress(terminal, 'Uploading a\u001b[2J\nb-very-long-name.png …').end()
  expect(written).toBe(`${ERASE_LINE}⠋ Uploading a b-ve…${ERASE_LINE}`)
})

/** A process with streams of its own. */
function someProcess() {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const exits: number[] = []
  const own = Object.assign(new EventEmitter(), streams, {
    exit: (status: number) => void exits.push(status),
  })
  return { own, exits, streams, ...processTerminal(own as never) }
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])('%s ends what reads stdin, and sent again the process with %d', async (name, status) => {
  const { own, exits, terminal, signal } = someProcess()
  const reading = terminal.readInput()
  own.emit(name, name)
  await expect(reading).rejects.toThrow()
  expect(signal.reason).toEqual(new Interruption(status))
  expect(exits).toEqual([])
  own.emit(name, name)
  expect(exits).toEqual([status])
})

test('a command that a signal ends before its result is there returns the status of the signal', async () => {
  const controller = new AbortController()
  const terminal = { readInput: () => new Promise<string>(() => controller.abort(new Interruption(143))) }
  const environment = { ...AWAY, MARKET_API_KEY: 'market_key' }
  const deliver = ['deliver', 'ord_1', '--text', '-']
  const { status, out, error } = await runProgram(deliver, environment, {
    terminal,
    signal: controller.signal,
  })
  expect({ status, out, error }).toEqual({ status: 143, out: '', error: '' })
})
