import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { run } from './run.ts'

const ESCAPE = String.fromCharCode(27)
const HOSTILE = `${ESCAPE}[2J\u009b31m\u202epaid`

/** A server that responds with text of others to every request. */
async function startHostileServer(status: number, body: object): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function printed(apiUrl: string, args: readonly string[]) {
  const texts = { out: '', error: '' }
  const environment = {
    MARKET_API_URL: apiUrl,
    ADMIN_KEY: 'adm_x',
    HOME: '/nowhere',
    XDG_CONFIG_HOME: '/nowhere',
  }
  const status = await run(args, environment, {
    out: (text) => {
      texts.out += text
    },
    error: (text) => {
      texts.error += text
    },
  })
  return { ...texts, status }
}

const CONTROL = /[\p{Cc}\u202a-\u202e]/u

const isClean = (text: string): boolean => !CONTROL.test(text.replaceAll('\n', ''))

test('run: JSON has the same value and no control character', async () => {
  const body = { success: true, data: [{ id: 'apr_1', summary: HOSTILE }], next_cursor: null }
  const { out, status } = await printed(await startHostileServer(200, body), ['approvals', '--json'])
  expect(status).toBe(0)
  expect(isClean(out)).toBe(true)
  expect(JSON.parse(out)).toEqual(body.data)
})

test('run: tables and errors have no control character, and a row stays on its line', async () => {
  const row = { id: 'apr_1', summary: `${HOSTILE}\nforged row`, proposer: HOSTILE, expires_at: 'soon' }
  const body = { success: true, data: [row], next_cursor: null }
  const { out } = await printed(await startHostileServer(200, body), ['approvals'])
  expect(isClean(out)).toBe(true)
  expect(out.trimEnd().split('\n')).toHaveLength(2)
  const failure = { success: false, error: HOSTILE, code: HOSTILE, request_id: HOSTILE }
  const failed = await printed(await startHostileServer(409, failure), ['approvals'])
  expect(failed.status).toBe(1)
  expect(failed.error).toContain('paid')
  expect(isClean(failed.error)).toBe(true)
})
