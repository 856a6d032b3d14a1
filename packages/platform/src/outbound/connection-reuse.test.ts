import type { RequestListener } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { OutboundRequest } from '@market/core/ports/outbound'
import { startDnsServer, type TestDnsServer } from '@market/testing/dns-server'
import { startTlsServer } from '@market/testing/tls-server'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { guardedOutbound } from './guarded-outbound.ts'

const PUBLIC = '93.184.216.34'

let dns: TestDnsServer
beforeAll(async () => {
  dns = await startDnsServer()
})
beforeEach(() => {
  for (const host of ['hook.example', 'two.example', 'other.example']) dns.answers.set(host, [PUBLIC])
})
afterAll(() => dns.stop())

const ask = (asked: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url: 'https://hook.example/in',
  headers: {},
  body: '{}',
  timeoutMs: 60_000,
  ...asked,
})

/** A server on loopback that stands for the public one; its certificate does not name `other.example`. */
const standIn = async (handler: RequestListener) => {
  const server = await startTlsServer(handler, ['hook.example', 'two.example'])
  onTestFinished(() => server.stop())
  const dialled: string[] = []
  const outbound = guardedOutbound({
    resolver: dns.resolver,
    ca: server.ca,
    connectTo: (address, port) => {
      dialled.push(`${address}:${port}`)
      return { host: '127.0.0.1', port: server.port }
    },
  })
  return { server, outbound, dialled }
}

describe('connection reuse', () => {
  const twice = async (outbound: ReturnType<typeof guardedOutbound>, url = ask().url) => [
    await outbound.post(ask({ url })),
    await outbound.post(ask({ url })),
  ]

  test('a second request within the idle time uses the open connection', async () => {
    const { outbound, server, dialled } = await standIn((_request, response) => response.end('ok'))
    const before = dns.questions.length
    const answer = { status: 200, body: 'ok' }
    expect(await twice(outbound)).toEqual([answer, answer])
    expect([server.connections(), dialled.length]).toEqual([1, 1])
    // Every request resolves and checks the name, with or without an open connection.
    expect(dns.questions.length - before).toBe(4)
  })

  test('a connection is used again when the response is complete before the whole request was written', async () => {
    const { outbound, server } = await standIn((_request, response) => response.end('ok'))
    const body = 'x'.repeat(4 * 1024 * 1024)
    for (let sent = 0; sent < 5; sent++) expect((await outbound.post(ask({ body }))).body).toBe('ok')
    expect(server.connections()).toBe(1)
  })

  test.each([
    ['a private address', ['10.0.0.1']],
    ['this machine', ['127.0.0.1']],
    ['the address of cloud metadata', ['169.254.169.254']],
    ['this machine in IPv6', ['::ffff:127.0.0.1']],
    ['the checked address and a private one', [PUBLIC, '192.168.0.1']],
  ])('of several open connections none is used when the name now resolves to %s', async (_what, answers) => {
    let requests = 0
    const together = Promise.withResolvers<void>()
    const { outbound, server, dialled } = await standIn(async (_request, response) => {
      if (++requests === 3) together.resolve()
      await together.promise
      response.end('ok')
    })
    await Promise.all([1, 2, 3].map(() => outbound.post(ask())))
    dns.answers.set('hook.example', answers)
    for (let again = 0; again < 4; again++)
      await expect(outbound.post(ask())).rejects.toMatchObject({ kind: 'forbidden' })
    expect([requests, server.connections(), dialled.length]).toEqual([3, 3, 3])
    dns.answers.set('hook.example', [PUBLIC])
    await outbound.post(ask())
    expect([requests, server.connections()]).toEqual([4, 3])
  })

  test('nothing is sent on an open connection after the request timed out while its name was resolved', async () => {
    let requests = 0
    const server = await startTlsServer(
      (_request, response) => {
        requests += 1
        response.end('ok')
      },
      ['hook.example'],
    )
    onTestFinished(() => server.stop())
    const resolved = Promise.withResolvers<void>()
    let delay: Promise<void> = Promise.resolve()
    const outbound = guardedOutbound({
      resolver: {
        resolve: async () => {
          await delay
          return [PUBLIC]
        },
      },
      ca: server.ca,
      connectTo: () => ({ host: '127.0.0.1', port: server.port }),
    })
    await outbound.post(ask())
    delay = resolved.promise
    await expect(outbound.post(ask({ timeoutMs: 50 }))).rejects.toMatchObject({ kind: 'timeout' })
    resolved.resolve()
    delay = Promise.resolve()
    await outbound.post(ask())
    expect(requests).toBe(2)
  })

  test('an open connection is not used when the name now resolves to another public address', async () => {
    const { outbound, dialled } = await standIn((_request, response) => response.end('ok'))
    await outbound.post(ask())
    dns.answers.set('hook.example', ['1.1.1.1'])
    await outbound.post(ask())
    expect(dialled).toEqual([`${PUBLIC}:443`, '1.1.1.1:443'])
  })

  test('an open connection is not used when the name now resolves to a private address', async () => {
    let requests = 0
    const { outbound } = await standIn((_request, response) => {
      requests += 1
      response.end('ok')
    })
    await outbound.post(ask())
    dns.answers.set('hook.example', ['10.0.0.1'])
    await expect(outbound.post(ask())).rejects.toMatchObject({ kind: 'forbidden' })
    expect(requests).toBe(1)
  })

  test('an open connection is not used for another host at the same address', async () => {
    const { outbound, server } = await standIn((_request, response) => response.end('ok'))
    await outbound.post(ask())
    await outbound.post(ask({ url: 'https://two.example/' }))
    expect(server.connections()).toBe(2)
    await expect(outbound.post(ask({ url: 'https://other.example/' }))).rejects.toMatchObject({
      kind: 'tls',
    })
  })

  test.each([
    ['asks to close', { connection: 'close' }],
    ['announces an idle timeout of one second', { 'keep-alive': 'timeout=1' }],
  ])('a server that %s gets a new connection for the next request', async (_what, headers) => {
    const { outbound, server } = await standIn((_request, response) =>
      response.writeHead(200, headers).end('ok'),
    )
    await twice(outbound)
    expect(server.connections()).toBe(2)
  })

  test('a request that fails on an open connection is not sent again', async () => {
    let requests = 0
    const { outbound, server } = await standIn((request, response) => {
      requests += 1
      if (requests === 2) request.socket.destroy()
      else response.end('ok')
    })
    await outbound.post(ask())
    await expect(outbound.post(ask())).rejects.toMatchObject({ kind: 'closed' })
    expect([requests, server.connections()]).toEqual([2, 1])
    expect((await outbound.post(ask())).body).toBe('ok')
    expect([requests, server.connections()]).toEqual([3, 2])
  })

  test('a server that closes the idle connection gets a new one', async () => {
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
    const { outbound, server } = await standIn((request, response) => {
      response.end('ok', () => setTimeout(() => request.socket.end(), 10))
      request.socket.on('close', leave)
    })
    await outbound.post(ask())
    await gone
    expect((await outbound.post(ask())).body).toBe('ok')
    expect(server.connections()).toBe(2)
  })

  test('a new connection resumes the TLS session of the last one', async () => {
    const resumed: boolean[] = []
    const { outbound } = await standIn((request, response) => {
      resumed.push((request.socket as TLSSocket).isSessionReused())
      response.writeHead(200, { connection: 'close' }).end('ok')
    })
    await twice(outbound)
    await outbound.post(ask({ url: 'https://two.example/' }))
    expect(resumed).toEqual([false, true, false])
  })

  test('the session of a connection whose certificate was not accepted is never resumed', async () => {
    const { outbound, server } = await standIn((_request, response) => response.end('ok'))
    for (let attempt = 0; attempt < 3; attempt++)
      await expect(outbound.post(ask({ url: 'https://other.example/' }))).rejects.toMatchObject({
        kind: 'tls',
      })
    expect(server.connections()).toBe(3)
  })
})
