import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { OutboundFailure } from '@market/core/ports/outbound'
import { ApiError } from '@market/kernel/api-error'
import { startDnsServer, type TestDnsServer } from '@market/testing/dns-server'
import { FORBIDDEN_TARGETS, FORBIDDEN_ZONE } from '@market/testing/forbidden-targets'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardedOutbound } from './guarded-outbound.ts'

/** Every target that passes the checks connects here, so a connection means that a check failed. */
const startCanary = async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, connections: () => connections, stop: () => once(server.close(), 'close') }
}

describe('forbidden targets', () => {
  let dns: TestDnsServer
  let canary: Awaited<ReturnType<typeof startCanary>>
  const outbound = () =>
    guardedOutbound({ resolver: dns.resolver, connectTo: () => ({ host: '127.0.0.1', port: canary.port }) })
  const post = (url: string) => outbound().post({ url, headers: {}, body: '{}', timeoutMs: 60_000 })

  beforeAll(async () => {
    dns = await startDnsServer(FORBIDDEN_ZONE)
    canary = await startCanary()
  })
  afterAll(async () => {
    await dns.stop()
    await canary.stop()
  })

  test.each(FORBIDDEN_TARGETS)(
    '%s is rejected before any connection (%j) (asvs V1.3)',
    async (_form, url) => {
      const before = canary.connections()
      const failure = await post(url).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(OutboundFailure)
      expect(failure).toMatchObject({ kind: 'forbidden' })
      const apiError = await outbound()
        .checkUrl(url)
        .catch((error: unknown) => error)
      expect(apiError).toBeInstanceOf(ApiError)
      expect(apiError).toMatchObject({ kind: 'invalid', extra: { code: 'endpoint_not_public' } })
      expect(canary.connections()).toBe(before)
    },
  )

  test('rejects a name that resolves to a private address after it was accepted', async () => {
    dns.answers.set('moves.example', ['93.184.216.34'])
    await outbound().checkUrl('https://moves.example/')
    dns.answers.set('moves.example', ['127.0.0.1'])
    const before = canary.connections()
    await expect(post('https://moves.example/')).rejects.toMatchObject({ kind: 'forbidden' })
    expect(canary.connections()).toBe(before)
  })

  test('the error message does not contain the private address', async () => {
    const sentence = await outbound().checkUrl('https://inside-a.example/').catch(String)
    expect(sentence).toMatch(/public internet addresses only/)
    expect(sentence).not.toContain('10.1.2.3')
  })

  test('a public target reaches the test server, so the other tests are meaningful', async () => {
    const before = canary.connections()
    await expect(post('https://good.example/')).rejects.toMatchObject({ kind: 'tls' })
    expect(canary.connections()).toBe(before + 1)
  })
})
