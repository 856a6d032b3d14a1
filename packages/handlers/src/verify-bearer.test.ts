import type { LimitResult } from '@market/core/ports/limiter'
import { expect, test } from 'vitest'
import type { AppServices } from './app-services.ts'
import type { SecurityEvent } from './security-events.ts'
import { verifyBearer } from './verify-bearer.ts'

const ASKED = { address: '192.0.2.7', requestId: 'r1' }

function appWith(usage: LimitResult) {
  const events: SecurityEvent[] = []
  const counted: string[] = []
  const app = {
    limiter: {
      consume: async (rule: { name: string }, address: string) => {
        counted.push(`${rule.name} ${address}`)
        return usage
      },
    },
    clock: { wallTime: () => new Date(0) },
    onSecurityEvent: (event: SecurityEvent) => events.push(event),
  } as unknown as AppServices
  return { app, events, counted }
}

test('verifyBearer: a rejected credential counts against the address and is a security event', async () => {
  const { app, events, counted } = appWith({ allowed: true, remaining: 1, resetsInMs: 1_000 })
  await expect(verifyBearer(app, undefined, 'a.b.c', ASKED)).rejects.toMatchObject({
    extra: { code: 'bad_token' },
  })
  expect(counted).toEqual(['read 192.0.2.7'])
  expect(events).toMatchObject([
    { event: 'credential.rejected', operation: 'mcp', client: '192.0.2.7', request_id: 'r1' },
  ])
})

test('verifyBearer: above the limit of the address, a rejected credential is 429 and no event', async () => {
  const { app, events } = appWith({ allowed: false, remaining: 0, resetsInMs: 1_000 })
  await expect(verifyBearer(app, undefined, 'a.b.c', ASKED)).rejects.toMatchObject({ kind: 'rate_limited' })
  expect(events).toEqual([])
})

test('verifyBearer: a missing credential is 401 and no event', async () => {
  const { app, events } = appWith({ allowed: true, remaining: 1, resetsInMs: 1_000 })
  await expect(verifyBearer(app, undefined, undefined, ASKED)).rejects.toMatchObject({
    extra: { code: 'credentials_missing' },
  })
  expect(events).toEqual([])
})
