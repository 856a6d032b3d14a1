import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'

/** Runs a process that logs to standard output and returns the received messages after it ended. */
async function messagesOf(program: string, until?: (messages: readonly string[]) => boolean) {
  const url = JSON.stringify(new URL('./logger.ts', import.meta.url).href)
  const script = `
    const { createLogger } = await import(${url})
    const log = createLogger({ level: 'info', name: 'child' })
    ${program}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  const messages = () => Array.from(output.matchAll(/"msg":"([^"]*)"/g), (match) => match[1] ?? '')
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    if (until?.(messages()) === true) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return messages()
}

describe('standard output is buffered', () => {
  const kill = `process.kill(process.pid, 'SIGKILL')`
  const numbers = Array.from({ length: 200 }, (_, n) => String(n))
  const lines = 'for (let n = 0; n < 200; n++) log.info(String(n));'

  test('a killed process loses no warning and nothing that was logged before it', async () => {
    expect(await messagesOf(`${lines} log.warn('warned'); ${kill}`)).toEqual([...numbers, 'warned'])
  })

  test('info lines are written without further lines or an end of the process', async () => {
    const seen = await messagesOf(`log.info('alone'); setInterval(() => {}, 1_000)`, (all) => all.length > 0)
    expect(seen).toEqual(['alone'])
  })

  test('a process continues after its reader ended', async () => {
    const script = `
      const { createLogger } = await import(${JSON.stringify(new URL('./logger.ts', import.meta.url).href)})
      const log = createLogger({ level: 'info', name: 'child' })
      log.warn('read')
      process.once('message', () => {
        for (let n = 0; n < 100; n++) log.warn('not read')
        log.info('not read')
        setTimeout(() => process.send('alive', () => process.exit(7)), 200)
      })`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    })
    await once(child.stdout as Readable, 'data')
    child.stdout?.destroy()
    child.send('reader has ended')
    const exited = once(child, 'exit')
    const [message] = await once(child, 'message')
    expect(message).toBe('alive')
    expect(await exited).toEqual([7, null])
  })

  test('a process with a slow reader continues, and the reader gets whole lines', async () => {
    const script = `
      const { createLogger } = await import(${JSON.stringify(new URL('./logger.ts', import.meta.url).href)})
      const log = createLogger({ level: 'info', name: 'child' })
      for (let n = 0; n < 5_000; n++) log.info({ n }, 'x'.repeat(100))
      process.send('alive')
      process.once('message', () => process.exit(0))`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    })
    await once(child, 'message')
    child.send('read now')
    const lines = (await text(child.stdout as Readable)).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 5_000 }, (_, n) => n))
  })

  test('a process writes again after the disk was full', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'logger-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'log')
    const script = `
      const { createLogger } = await import(${JSON.stringify(new URL('./logger.ts', import.meta.url).href)})
      const log = createLogger({ level: 'info', name: 'child' })
      for (let n = 0; n < 100; n++) log.warn({ n }, 'x'.repeat(100))
      process.send('full')
      process.once('message', () => {
        log.warn('space again')
        process.disconnect()
      })`
    const log = openSync(file, 'a')
    // The limit of 4 KB stands for the full disk; emptying the file makes room.
    const limited = 'ulimit -f 4; exec "$0" --input-type=module --eval "$1"'
    const child = spawn('bash', ['-c', limited, process.execPath, script], {
      stdio: ['ignore', log, 'ignore', 'ipc'],
    })
    const exited = once(child, 'exit')
    await once(child, 'message')
    truncateSync(file)
    child.send('space')
    expect(await exited).toEqual([0, null])
    closeSync(log)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('log lines were dropped')
    expect(text).toContain('space again')
  })

  test.each([
    ['exits', 'process.exit(0)'],
    ['throws', `setTimeout(() => { throw new Error('end') })`],
    ['has nothing left to do', ''],
  ])('a process that %s loses no line', async (_how, end) => {
    expect(await messagesOf(`${lines} ${end}`)).toEqual(numbers)
  })
})
