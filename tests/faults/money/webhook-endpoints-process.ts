import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { testCertificates } from '@market/testing/certificates'
import { seededRandom } from '../../support/payout-random.ts'

/** Endpoints under `*.hooks.example` that reject one call in ten; every call that was accepted is kept by its delivery. */
const FAILING = 0.1

const random = seededRandom(Number(process.argv[2] ?? 1))
const { ca, key, cert } = await testCertificates(['*.hooks.example'])
const accepted = new Set<string>()

const server = createServer({ key, cert }, (request, response) => {
  request.resume()
  request.on('error', () => {})
  request.on('end', () => {
    if (random() < FAILING) {
      response.writeHead(500).end('{}')
      return
    }
    accepted.add(String(request.headers['x-market-delivery-id']))
    response.end('{}')
  })
})
server.on('secureConnection', (socket: Socket) => socket.on('error', () => {}))
server.listen(0, '127.0.0.1', 1_024)
await once(server, 'listening')
process.send?.({ port: (server.address() as AddressInfo).port, ca })

process.on('message', () => void process.send?.({ accepted: [...accepted] }))
process.on('disconnect', () => process.exit(0))
