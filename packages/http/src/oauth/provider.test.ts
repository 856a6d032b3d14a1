import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OAuthService } from '@market/handlers/oauth'
import { expect, onTestFinished, test } from 'vitest'
import { createProvider } from './provider.ts'

test('provider: an error outside its own handling is reported with the id of its request', async () => {
  const faults: unknown[] = []
  const service = { onFault: (error: Error, id: string) => faults.push([error.message, id]) }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signing = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256', use: 'sig' }
  const keys = { id: 'k1', signing, cookies: 'secret of cookies' }
  const provider = createProvider(
    {
      service: service as unknown as OAuthService,
      appUrl: 'http://localhost',
      resource: 'http://localhost/mcp',
    },
    [keys as never],
  )
  provider.use(() => {
    throw new Error('broken')
  })
  const server = createServer(provider.callback()).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/oauth/jwks`, { headers: { 'x-request-id': 'r1' } })
  expect(response.status).toBe(500)
  expect(faults).toEqual([['broken', 'r1']])
})
