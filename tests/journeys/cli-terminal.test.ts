import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { cliOf, startServer } from './cli-process.ts'

/** The program `market` in a terminal, with signals and closed pipes. Its API is slow, which is when these matter. */

/** Requests without a response yet. */
let waiting: ServerResponse[] = []
let server: Awaited<ReturnType<typeof startServer>>
let cli: ReturnType<typeof cliOf>

const SERVICES = Array.from({ length: 5_000 }, (_, n) => ({ id: `svc_${n}`, title: 'A'.repeat(100) }))

beforeAll(async () => {
  server = await startServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    if (pathname === '/api/services')
      response.end(JSON.stringify({ success: true, data: SERVICES, next_cursor: null }))
    else if (pathname === '/api/events/stream') streamEvents(response)
    else waiting.push(response)
  })
  cli = cliOf({ MARKET_API_URL: server.url, MARKET_TOKEN: 'token', MARKET_WALLET_KEY: '1'.repeat(64) })
})
beforeEach(() => {
  waiting = []
})
afterAll(() => {
  cli?.remove()
  server?.stop()
})

/** An event every few milliseconds, until the client leaves. */
function streamEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let cursor = 0
  const timer = setInterval(() => {
    const event = { cursor: String(++cursor), event: 'order.paid', order_id: 'ord_1', created_at: '' }
    response.write(`id: ${cursor}\ndata: ${JSON.stringify({ ...event, data: {} })}\n\n`)
  }, 5)
  response.on('close', () => clearInterval(timer))
}

const asked = () => until('the API is asked', () => waiting.length > 0)
const LISTEN = ['events', 'listen', '--role', 'buyer', '--after', '0']

describe('a terminal', () => {
  test('Ctrl-C ends a check with 130: its progress is on stderr only, and is erased', async () => {
    const out = join(cli.folder, 'out')
    const { said, press, ended } = cli.startShell(`market doctor > '${out}'`, { inTerminal: true })
    await asked()
    await until('the progress is shown', () => said.out.includes('Checking'))
    press('\u0003')
    expect(await ended).toMatchObject({ status: 130, screen: '' })
    expect(readFileSync(out, 'utf8')).toBe('')
  })

  test('a failure erases the progress and leaves the message', async () => {
    const { said, ended } = cli.startShell('market hire svc_1 --brief Count. --max-usd 1', {
      inTerminal: true,
    })
    await asked()
    await until('the progress is shown', () => said.out.includes('Getting the price'))
    const body = { success: false, error: 'No such service.', code: 'service_not_found' }
    waiting[0]?.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const { status, screen } = await ended
    expect(status).toBe(1)
    expect(screen).toMatch(/^\S*error\S* {2}No such service\.\n/)
    expect(screen).not.toContain('Getting the price')
  })

  test('an API key is not shown while it is typed, and Ctrl-C restores the terminal', async () => {
    const { said, press, ended } = cli.startShell('market login --api-key; echo "ended $?"; stty', {
      inTerminal: true,
    })
    await until('it asks', () => said.out.includes('API key'))
    press('market_typed')
    press('\u0003')
    const { screen } = await ended
    expect(screen).toMatch(/^API key \(it is not shown\):\nended 130\n/)
    expect(screen).not.toMatch(/market_typed|-echo\b|-icanon/)
    expect(waiting).toEqual([])
  })
})

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const

describe.each(SIGNALS)('%s', (name, expected) => {
  test('events listen: ends with 0 and says how to continue', async () => {
    const { child, said, ended } = cli.start(LISTEN)
    await until('an event is shown', () => said.out.includes('order.paid'))
    child.kill(name)
    const { status, out, error } = await ended
    expect(status).toBe(0)
    const last = out.trimEnd().split('\n').at(-1)?.trim().split(/\s+/)[0]
    expect(error).toMatch(new RegExp(`Continue with: market events listen --role buyer --after ${last}\n$`))
  })

  test(`a request without a response ends with ${expected} and prints nothing`, async () => {
    const { child, ended } = cli.start(['orders'])
    await asked()
    child.kill(name)
    expect(await ended).toEqual({ status: expected, out: '', error: '' })
  })
})

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is of the shell.
const SHOW_STATUS = 'echo "status ${PIPESTATUS[0]}"'

describe('closed pipes', () => {
  test.each([
    ['market services --json | head -1', 0],
    ['market services --json | true', 0],
    [`market ${LISTEN.join(' ')} --json | head -1`, 0],
    ['market doctor --api-url http://127.0.0.1:2 | true', 1],
  ])('%s: the program ends with its own status and prints no error', async (script, expected) => {
    const { ended } = cli.startShell(`${script}; ${SHOW_STATUS}`)
    const { out, error } = await ended
    expect(out).toMatch(new RegExp(`status ${expected}\n$`))
    expect(error.replace(/^.*(Listening|Continue with).*\n/gm, '')).toBe('')
  })

  test('a failure whose message cannot be written still ends with 1', async () => {
    const { out } = await cli.startShell(`market payouts 2>&1 >/dev/null | true; ${SHOW_STATUS}`).ended
    expect(out).toBe('status 1\n')
  })

  test('a full disk ends with 1 and one sentence', async () => {
    expect(await cli.startShell('market services --json > /dev/full').ended).toMatchObject({
      status: 1,
      error: 'error  The output cannot be written: ENOSPC.\n',
    })
  })
})
