import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { testCertificates } from '@market/testing/certificates'

/**
 * Endpoints in a process of their own, so that they take no CPU time from the measured process. The host's first letters
 * say how one behaves; every call is kept as its delivery id and its time.
 */
const { ca, key, cert } = await testCertificates(['*.hooks.example'])
let calls: [id: string, at: number][] = []
let connections = 0
let resumed = 0

const server = createServer({ key, cert }, (request, response) => {
  const { host = '' } = request.headers
  request.resume()
  request.on('error', () => {})
  request.on('end', () => {
    calls.push([String(request.headers['x-market-delivery-id']), Date.now()])
    if (host.startsWith('hang')) return
    if (host.startsWith('fail')) response.writeHead(500).end('{}')
    else if (host.startsWith('shut')) response.socket?.destroy()
    else response.end('{}')
  })
})
server.on('secureConnection', (socket: TLSSocket) => {
  socket.on('error', () => {})
  connections += 1
  if (socket.isSessionReused()) resumed += 1
})
server.listen(0, '127.0.0.1', 1_024)
await once(server, 'listening')
process.send?.({ port: (server.address() as AddressInfo).port, ca })

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ calls, connections, resumed, cpuMicros: user + system })
  calls = []
  connections = 0
  resumed = 0
})
process.on('disconnect', () => process.exit(0))
