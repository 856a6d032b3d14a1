import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { limitConnections } from './connections.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: market.test\r\n\r\n'
/** More than the buffers of both ends. */
const LARGE = Buffer.alloc(64 * 1024 * 1024)

async function startServer(respond: RequestListener, addressOfPeer = (): string | undefined => undefined) {
  const rejected: string[] = []
  const server = createServer((request, response) => {
    if (connections.accept(request.socket, response)) respond(request, response)
  })
  const connections = limitConnections(server, {
    addressOfPeer,
    maxPerAddress: 1,
    unreadMs: 500,
    onRejected: (reason) => rejected.push(reason),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    rejected,
    connect: () => connect({ host: '127.0.0.1', port }),
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('connections: a client that does not read its response is disconnected', async () => {
  const server = await startServer((_request, response) => void response.end(LARGE))
  try {
    const socket = server.connect()
    socket.on('error', () => {})
    socket.write(REQUEST)
    while (server.rejected.length === 0) await pause(50)
    expect(server.rejected).toEqual(['unread'])
    const closed = once(socket, 'close')
    socket.resume()
    await closed
  } finally {
    await server.stop()
  }
})

test('connections: a response that is not ready yet is not unread, nor one that waits for it', async () => {
  let requests = 0
  const server = await startServer(async (_request, response) => {
    if (++requests === 1) await pause(3_000)
    response.end('ready')
  })
  try {
    const socket = server.connect()
    socket.write(REQUEST.repeat(2))
    let received = ''
    for await (const chunk of socket) {
      received += String(chunk)
      if (received.split('ready').length === 3) break
    }
    expect(server.rejected).toEqual([])
  } finally {
    await server.stop()
  }
})

test('connections: requests behind responses that wait for the client are served when it reads', async () => {
  const body = Buffer.alloc(1024 * 1024, 'x')
  const server = await startServer((_request, response) => void response.end(body))
  try {
    const socket = server.connect()
    // Longer than a slice together, so that the parser pauses between two slices.
    const long = REQUEST.replace('Host', `X-Long: ${'a'.repeat(1_000)}\r\nHost`)
    socket.write(long.repeat(16))
    let received = 0
    for await (const chunk of socket) {
      received += (chunk as Buffer).length
      if (received > 16 * body.length) break
    }
    expect(server.rejected).toEqual([])
  } finally {
    await server.stop()
  }
})

test('connections: the /64s of one /56 together have four times the connections of one', async () => {
  let made = 0
  const server = await startServer(
    (_request, response) => void response.end(),
    () => `2001:db8:1:${(made++).toString(16)}::/64`,
  )
  try {
    for (let n = 0; n < 4; n++) await once(server.connect(), 'connect')
    const [received] = await once(server.connect(), 'data')
    expect(String(received)).toMatch(/^HTTP\/1\.1 429 .*X-RateLimit-Limit: 4\r.*too_many_connections/s)
    expect(server.rejected).toEqual(['connections'])
  } finally {
    await server.stop()
  }
})
