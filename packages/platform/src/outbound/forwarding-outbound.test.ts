import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outboundFrom } from '../settings/outbound.ts'

const folder = mkdtempSync(join(tmpdir(), 'forwards-'))
const file = join(folder, 'forwards')
const received: { path: string | undefined; body: string }[] = []
const server = createServer(async (request, response) => {
  received.push({ path: request.url, body: Buffer.concat(await request.toArray()).toString() })
  response.writeHead(202).end('thanks')
})
let url = ''
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

const outbound = outboundFrom({ DNS_SERVERS: [], OUTBOUND_REROUTE: [], OUTBOUND_FORWARD_FILE: file })
const post = (agent: string, to = 'https://10.0.0.1/in') =>
  outbound.post({ url: to, headers: { 'X-Market-Agent-Id': agent }, body: '{}', timeoutMs: 60_000 })

test('forwarding: the webhook of a forwarded agent arrives on this machine', async () => {
  writeFileSync(file, JSON.stringify({ agt_1: `${url}/hooks` }))
  expect(await post('agt_1')).toEqual({ status: 202, body: 'thanks' })
  expect(received).toEqual([{ path: '/hooks', body: '{}' }])
})

test('forwarding: other agents stay behind the guard against private addresses', async () => {
  await expect(post('agt_2', `${url}/hooks`)).rejects.toMatchObject({ kind: 'forbidden' })
  await expect(post('agt_2')).rejects.toMatchObject({ kind: 'forbidden' })
  await expect(outbound.checkUrl(`${url}/hooks`)).rejects.toMatchObject({
    extra: { code: 'endpoint_not_public' },
  })
})

test('forwarding: a program that does not run is a failed connection', async () => {
  writeFileSync(file, JSON.stringify({ agt_1: 'http://127.0.0.1:1/hooks' }))
  await expect(post('agt_1')).rejects.toMatchObject({ kind: 'connect' })
})
