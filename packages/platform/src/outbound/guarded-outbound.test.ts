import type { RequestListener } from 'node:http'
import type { OutboundRequest } from '@market/core/ports/outbound'
import { startDnsServer, type TestDnsServer } from '@market/testing/dns-server'
import { startTcpProxy } from '@market/testing/tcp-proxy'
import { startTlsServer } from '@market/testing/tls-server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type GuardedOutboundSettings, guardedOutbound } from './guarded-outbound.ts'

const PUBLIC = '93.184.216.34'
/** Below the range of ephemeral ports. */
const CLOSED_PORT = { host: '127.0.0.1', port: 1 }

const ask = (asked: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url: 'https://hook.example/in?x=1',
  headers: {},
  body: '{"hello":"wörld"}',
  timeoutMs: 60_000,
  ...asked,
})

describe('guarded outbound', () => {
  let dns: TestDnsServer
  beforeAll(async () => {
    dns = await startDnsServer({
      'hook.example': [PUBLIC],
      'other.example': [PUBLIC],
      'two.example': ['1.1.1.1', PUBLIC],
      'silent.example': 'silent',
      'failing.example': 'failing',
      'empty.example': [],
    })
  })
  afterAll(() => dns.stop())

  /** A loopback server in place of the public one, and the connector that reaches it. */
  const standIn = async (handler: RequestListener, more: GuardedOutboundSettings = {}) => {
    const server = await startTlsServer(handler, ['hook.example', 'two.example', PUBLIC])
    onTestFinished(() => server.stop())
    const dialled: string[] = []
    const outbound = guardedOutbound({
      resolver: dns.resolver,
      ca: server.ca,
      connectTo: (address, port) => {
        dialled.push(`${address}:${port}`)
        return { host: '127.0.0.1', port: server.port }
      },
      ...more,
    })
    return { server, outbound, dialled }
  }

  test('sends body and headers to a public target and returns its response', async () => {
    const { outbound, dialled } = await standIn(async (request, response) => {
      const body = (await request.setEncoding('utf8').toArray()).join('')
      const { host, connection } = request.headers
      const seen = { method: request.method, path: request.url, host, connection, body }
      response.writeHead(202).end(JSON.stringify({ ...seen, sign: request.headers['x-sign'] }))
    })
    await outbound.checkUrl(ask().url)
    const headers = { 'X-Sign': 'v1=abc', Host: 'inside.example', 'Content-Length': '1' }
    const answer = await outbound.post(ask({ headers }))
    expect(answer.status).toBe(202)
    expect(JSON.parse(answer.body)).toEqual({
      method: 'POST',
      path: '/in?x=1',
      host: 'hook.example',
      connection: 'keep-alive',
      body: '{"hello":"wörld"}',
      sign: 'v1=abc',
    })
    expect(dialled).toEqual([`${PUBLIC}:443`])
  })

  test('accepts an IP address when the certificate is valid for it', async () => {
    const { outbound } = await standIn((_request, response) => response.end('ok'))
    expect(await outbound.post(ask({ url: `https://${PUBLIC}/` }))).toEqual({ status: 200, body: 'ok' })
  })

  test('uses an allowed port and includes it in the Host header', async () => {
    const echo: RequestListener = (request, response) => response.end(request.headers.host)
    const { outbound, dialled } = await standIn(echo)
    const answer = await outbound.post(ask({ url: 'https://hook.example:8443/' }))
    expect(answer.body).toBe('hook.example:8443')
    expect(dialled).toEqual([`${PUBLIC}:8443`])
  })

  test('connects to the checked address when the name resolves differently afterwards', async () => {
    dns.answers.set('hook.example', [PUBLIC])
    onTestFinished(() => void dns.answers.set('hook.example', [PUBLIC]))
    const resolve = async (host: string) => {
      const addresses = await dns.resolver.resolve(host)
      dns.answers.set(host, ['127.0.0.1'])
      return addresses
    }
    const { outbound, dialled } = await standIn((_request, response) => response.end('ok'), {
      resolver: { resolve },
    })
    const before = dns.questions.length
    expect((await outbound.post(ask())).body).toBe('ok')
    expect(dialled).toEqual([`${PUBLIC}:443`])
    expect(dns.questions.slice(before).toSorted()).toEqual(['A hook.example', 'AAAA hook.example'])
  })

  test('returns a redirect to a private address and does not follow it', async () => {
    const { outbound, server } = await standIn((_request, response) =>
      response.writeHead(302, { location: 'https://169.254.169.254/' }).end(),
    )
    expect(await outbound.post(ask())).toEqual({ status: 302, body: '' })
    expect(server.connections()).toBe(1)
  })

  test('tries the next checked address when the first one refuses the connection', async () => {
    const { server, dialled } = await standIn((_request, response) => response.end('ok'))
    const outbound = guardedOutbound({
      resolver: dns.resolver,
      ca: server.ca,
      connectTo: (address) => {
        dialled.push(address)
        return address === '1.1.1.1' ? CLOSED_PORT : { host: '127.0.0.1', port: server.port }
      },
    })
    expect((await outbound.post(ask({ url: 'https://two.example/' }))).body).toBe('ok')
    expect(dialled).toEqual(['1.1.1.1', PUBLIC])
  })

  test('cuts an endless response at 64 KB and closes the connection', async () => {
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
    const { outbound } = await standIn((_request, response) => {
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      }
      response.on('drain', pour)
      response.on('close', leave)
      pour()
    })
    const answer = await outbound.post(ask())
    expect(answer).toEqual({ status: 200, body: 'x'.repeat(64 * 1024) })
    await gone
  })

  test('omits a character that was cut at the limit', async () => {
    const { outbound } = await standIn((_request, response) => response.end('aé'), { maxAnswerBytes: 2 })
    expect((await outbound.post(ask())).body).toBe('a')
  })

  test('a slow response ends at the timeout', async () => {
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
    const { outbound } = await standIn((_request, response) => {
      const drip = setInterval(() => response.write('.'), 20)
      response.on('close', () => {
        clearInterval(drip)
        leave()
      })
    })
    const startedAt = performance.now()
    await expect(outbound.post(ask({ timeoutMs: 400 }))).rejects.toMatchObject({ kind: 'timeout' })
    expect(performance.now() - startedAt).toBeGreaterThan(390)
    await gone
  })

  test('a server that does not respond is a timeout', async () => {
    const { outbound } = await standIn(() => {})
    await expect(outbound.post(ask({ timeoutMs: 300 }))).rejects.toMatchObject({ kind: 'timeout' })
  })

  test('a TLS handshake that hangs is a timeout', async () => {
    const { server } = await standIn(() => {})
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
    onTestFinished(() => proxy.stop())
    proxy.set({ blackhole: true })
    const connectTo = () => ({ host: '127.0.0.1', port: proxy.port })
    const outbound = guardedOutbound({ resolver: dns.resolver, ca: server.ca, connectTo })
    await expect(outbound.post(ask({ timeoutMs: 300 }))).rejects.toMatchObject({ kind: 'timeout' })
  })

  test('a certificate for another name or from an unknown authority is a TLS failure, and nothing is sent (asvs V12.2)', async () => {
    let requests = 0
    const { outbound, server } = await standIn(() => {
      requests += 1
    })
    await expect(outbound.post(ask({ url: 'https://other.example/' }))).rejects.toMatchObject({ kind: 'tls' })
    const connectTo = () => ({ host: '127.0.0.1', port: server.port })
    const withSystemRoots = guardedOutbound({ resolver: dns.resolver, connectTo })
    await expect(withSystemRoots.post(ask())).rejects.toMatchObject({ kind: 'tls' })
    expect(requests).toBe(0)
  })

  test('a refused connection is a connect failure', async () => {
    const outbound = guardedOutbound({ resolver: dns.resolver, connectTo: () => CLOSED_PORT })
    await expect(outbound.post(ask())).rejects.toMatchObject({ kind: 'connect' })
  })

  test.each([
    ['hangs up', (socket: { destroy(): unknown }) => socket.destroy()],
    ['speaks no HTTP', (socket: { end(text: string): unknown }) => socket.end('hello\r\n\r\n')],
    [
      'switches protocols',
      (socket: { write(text: string): unknown }) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    ],
    [
      'ends in the middle of its body',
      (socket: { end(text: string): unknown }) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'),
    ],
  ])('a server that %s is a closed connection', async (_what, act) => {
    const { outbound } = await standIn((request) => void act(request.socket))
    await expect(outbound.post(ask())).rejects.toMatchObject({ kind: 'closed' })
  })

  test.each(['missing.example', 'failing.example', 'empty.example'])(
    'a name without an answer (%s) fails as dns and is rejected as not resolved',
    async (name) => {
      const outbound = guardedOutbound({ resolver: dns.resolver })
      await expect(outbound.post(ask({ url: `https://${name}/` }))).rejects.toMatchObject({ kind: 'dns' })
      const code = 'endpoint_not_resolved'
      const rejected = { kind: 'invalid', extra: { code } }
      await expect(outbound.checkUrl(`https://${name}/`)).rejects.toMatchObject(rejected)
    },
  )

  test('a DNS server that does not respond is a timeout', async () => {
    const { outbound, server } = await standIn(() => {})
    const asked = ask({ url: 'https://silent.example/', timeoutMs: 200 })
    await expect(outbound.post(asked)).rejects.toMatchObject({ kind: 'timeout' })
    expect(server.connections()).toBe(0)
  })

  test('a late DNS response opens no connection', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<string[]>()
    const { outbound, server } = await standIn(() => {}, { resolver: { resolve: () => answered } })
    await expect(outbound.post(ask({ timeoutMs: 200 }))).rejects.toMatchObject({ kind: 'timeout' })
    answer([PUBLIC])
    await answered
    await new Promise(setImmediate)
    expect(server.connections()).toBe(0)
  })
})
