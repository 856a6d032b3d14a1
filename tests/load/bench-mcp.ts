import { Redis } from 'ioredis'
import { newestMessage, toolCall } from '../mcp/raw-messages.ts'
import { client } from '../support/client.ts'
import { makeAgent, makeOwnedAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { BRIEF } from '../support/orders.ts'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { makeService } from '../support/services.ts'
import type { BenchRequest } from './bench-client.ts'
import { measure } from './bench-pair.ts'
import { median, report, spread } from './bench-report.ts'

/** CPU of two reads over MCP 2026-07-28 and 2025-11-25 beside the same reads over REST. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 7)
const SECONDS = Number(process.env['SECONDS'] ?? 2)
const WARM_UP_SECONDS = 4
const CONNECTIONS = 8
const AGENTS = 40

const parts = await startParts()
const profile = process.env['PROFILE']
const api = await startApi(
  { ...parts.environment, DATABASE_URL: parts.database.url },
  { nodeOptions: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`] },
)
const redis = new Redis(parts.environment['REDIS_URL'] ?? '')
const market = { client: () => client(api.url) } as unknown as Market

/** An agent and an order that it sells. */
async function makeSeller(buyerKey: string) {
  const seller = await makeOwnedAgent(market, { ai_models: ['model-one', 'model-two'] })
  const { id: service_id } = await makeService(market, seller, { price_type: 'quote', price_usd: undefined })
  const placed = await market.client().post('/api/orders', { service_id, brief: BRIEF }, { bearer: buyerKey })
  if (placed.status !== 201) throw new Error(JSON.stringify(placed.body))
  return { bearer: seller.apiKey, orderId: placed.body.data.id as string }
}

const VERSIONS = {
  'MCP 2026-07-28': (name: string, args: Record<string, unknown>) => {
    const { body, headers } = newestMessage('tools/call', { name, arguments: args })
    return { path: '/mcp', body: JSON.stringify(body), headers }
  },
  'MCP 2025-11-25': (name: string, args: Record<string, unknown>) => ({
    path: '/mcp',
    body: JSON.stringify(toolCall(name, args)),
    headers: { 'mcp-protocol-version': '2025-11-25' },
  }),
} as const
type Version = keyof typeof VERSIONS

/** Limits count the credential over MCP, so they are forgotten before each measurement. */
async function forgetLimits(): Promise<void> {
  const keys = await redis.keys(`${parts.environment['REDIS_PREFIX']}*`)
  if (keys.length > 0) await redis.del(keys)
}

async function cpuOf(requests: readonly BenchRequest[], seconds: number): Promise<number> {
  await forgetLimits()
  return (await measure(api.url, { requests, status: 200, connections: CONNECTIONS }, seconds)).cpuMicros
}

try {
  const buyer = await makeAgent(market)
  const sellers: Awaited<ReturnType<typeof makeSeller>>[] = []
  while (sellers.length < AGENTS) sellers.push(await makeSeller(buyer.apiKey))
  const reads = {
    'market_get_profile beside GET /api/agents/me': {
      aim: '1.4',
      rest: sellers.map(({ bearer }) => ({ path: '/api/agents/me', bearer })),
      mcp: (version: Version) =>
        sellers.map(({ bearer }) => ({ bearer, ...VERSIONS[version]('market_get_profile', {}) })),
    },
    // REST does not look the key up here, because the operation is public.
    'market_list_models beside GET /api/models': {
      aim: '1.6',
      rest: sellers.map(({ bearer }) => ({ path: '/api/models', bearer })),
      mcp: (version: Version) =>
        sellers.map(({ bearer }) => ({ bearer, ...VERSIONS[version]('market_list_models', {}) })),
    },
    'market_get_order beside GET /api/orders/{id}': {
      aim: '1.5',
      rest: sellers.map(({ bearer, orderId }) => ({ path: `/api/orders/${orderId}`, bearer })),
      mcp: (version: Version) =>
        sellers.map(({ bearer, orderId }) => ({
          bearer,
          ...VERSIONS[version]('market_get_order', { order_id: orderId }),
        })),
    },
  }
  const versions = Object.keys(VERSIONS) as Version[]
  for (const [what, { rest, mcp, aim }] of Object.entries(reads)) {
    if (!what.includes(process.env['READ'] ?? '')) continue
    for (const requests of [rest, ...versions.map(mcp)]) await cpuOf(requests, WARM_UP_SECONDS)
    const restMicros: number[] = []
    const micros = new Map<Version, number[]>(versions.map((version) => [version, []]))
    for (let round = 1; round <= ROUNDS; round++) {
      restMicros.push(await cpuOf(rest, SECONDS))
      for (const version of versions) micros.get(version)?.push(await cpuOf(mcp(version), SECONDS))
    }
    report(
      versions.map((version) => {
        const ours = micros.get(version) ?? []
        return {
          what: `${what}, ${version}`,
          measured: `${spread(ours.map((one, at) => one / (restMicros[at] ?? Number.NaN)))} times the CPU of REST`,
          aim,
          cpu: `${median(ours).toFixed(0)} µs, REST ${median(restMicros).toFixed(0)} µs`,
        }
      }),
    )
  }
} finally {
  redis.disconnect()
  api.kill('SIGTERM')
  await api.exited
  await parts.stop()
}
