import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { oidcLogin } from './oidc-login.ts'

/** A provider whose token endpoint answers with this error. */
async function loginWith(status: number, error: string) {
  const server = createServer((request, response) => {
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const isToken = request.url === '/token'
    response.writeHead(isToken ? status : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isToken ? { error } : { issuer, token_endpoint: `${issuer}/token` }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return oidcLogin({ issuer, clientId: 'login', scopes: ['openid'], audience: 'api', timeoutMs: 30_000 })
}

test.each([
  [400, 'invalid_grant', 'unauthenticated'],
  [401, 'invalid_client', 'unavailable'],
  [400, 'temporarily_unavailable', 'unavailable'],
  [429, 'slow_down', 'unavailable'],
])('refresh: %i %s is %s', async (status, error, kind) => {
  const login = await loginWith(status, error)
  await expect(login.refresh('a refresh token')).rejects.toMatchObject({ kind })
})
