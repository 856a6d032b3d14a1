import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { testCertificates } from './certificates.ts'

export interface TestTlsServer {
  readonly port: number
  /** The certificate authority that a client must trust. */
  readonly ca: string
  /** Number of accepted TCP connections. */
  connections(): number
  stop(): Promise<void>
}

export const startTlsServer = async (
  handler: RequestListener,
  names: readonly string[] = ['localhost'],
): Promise<TestTlsServer> => {
  const { ca, key, cert } = await testCertificates(names)
  let accepted = 0
  const server = createServer({ key, cert }, handler)
  server.on('connection', () => {
    accepted += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    ca,
    connections: () => accepted,
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
