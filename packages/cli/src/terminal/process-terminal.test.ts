import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { processTerminal } from './process-terminal.ts'

test('readHidden: asks only when the terminal shows no keys, and shows them again after the line', async () => {
  const steps: string[] = []
  const setRawMode = (isRaw: boolean) => steps.push(isRaw ? 'hidden' : 'shown')
  const stdin = Object.assign(new PassThrough(), { setRawMode })
  const own = Object.assign(new EventEmitter(), {
    stdin,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    exit: () => undefined,
  })
  const { terminal } = processTerminal(own as unknown as Parameters<typeof processTerminal>[0])
  const read = terminal.readHidden(() => steps.push('asked'))
  stdin.write('market_typed\r')
  expect(await read).toBe('market_typed')
  expect(steps).toEqual(['hidden', 'asked', 'shown'])
})
