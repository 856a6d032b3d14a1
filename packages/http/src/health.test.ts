import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { mountHealth } from './health.ts'

const notReady = { whyNotReady: async () => 'the database has no tables', isDraining: () => false }

test.each([
  [false, { status: 'not ready' }],
  [true, { status: 'not ready', reason: 'the database has no tables' }],
])(
  'readyz: gives the reason only where the public cannot read it: %s (asvs V13.2)',
  async (showsReason, body) => {
    const app = Fastify()
    mountHealth(app, notReady, { showsReason })
    const response = await app.inject('/readyz')
    expect([response.statusCode, response.json()]).toEqual([503, body])
  },
)
