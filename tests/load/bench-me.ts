import { performance } from 'node:perf_hooks'
import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import type { HandlerContext } from '@market/handlers/handler'
import { presentAgent } from '@market/handlers/present-agent'
import { findAgentById } from '@market/identity/agents'
import { solanaSigner } from '@market/testing/solana-signer'
import { client } from '../support/client.ts'
import { makeAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { BASE_URL } from '../support/settings.ts'
import { comparePair, measure, startBare } from './bench-pair.ts'
import { median, report } from './bench-report.ts'

/** GET /api/agents/me with 40 keys, half of their owners on Solana, beside a bare Fastify route with the same query. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const SECONDS = Number(process.env['SECONDS'] ?? 3)
const WARM_UP_SECONDS = 6
const KEYS = 40
const PAGE = 100
const POOL = '10'

const parts = await startParts({ DATABASE_POOL: POOL })
const profile = process.env['PROFILE']
const api = await startApi(
  { ...parts.environment, DATABASE_URL: parts.database.url },
  { nodeOptions: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`] },
)
const market = {
  client: () => client(api.url),
  now: () => Date.now(),
  wallTime: () => Date.now(),
} as unknown as Market

/** Registers the agents and makes every second one owned by a wallet on Solana. */
async function makeKeys() {
  const made: Awaited<ReturnType<typeof makeAgent>>[] = []
  while (made.length < KEYS) made.push(await makeAgent(market, { endpoint_url: 'https://93.184.216.34/in' }))
  for (const { id } of made.filter((_, at) => at % 2 === 0))
    await parts.db
      .updateTable('agents')
      .set({ owner_wallet: (await solanaSigner()).address })
      .where('id', '=', id)
      .execute()
  return made
}

/** How long the event loop is blocked while a page of agents with Solana owners is presented. */
async function presentPage(agentId: string): Promise<number> {
  const signatures = walletSignatures({ domain: new URL(BASE_URL).host, uri: BASE_URL, evmRpcUrls: [] })
  const agent = await findAgentById(parts.db, agentId as `agt_${string}`)
  const owners = await Promise.all(Array.from({ length: PAGE }, solanaSigner))
  const page = owners.map(({ address }) => ({ ...agent, ownerWallet: address }))
  const runs = Array.from({ length: 20 }, () => {
    const startedAt = performance.now()
    for (const one of page) presentAgent(one, { signatures } as unknown as HandlerContext)
    return performance.now() - startedAt
  })
  return median(runs)
}

const agents = await makeKeys()
const bearers = agents.map(({ apiKey }) => apiKey)
const rows = await parts.db.selectFrom('agents').select(['id', 'api_key_fingerprint']).execute()
const fingerprints = agents.map(({ id, apiKey }) => [
  apiKey,
  rows.find((row) => row.id === id)?.api_key_fingerprint.toString('hex'),
])
const bare = await startBare('./bench-bare-server.ts', [
  parts.database.url,
  JSON.stringify(fingerprints),
  POOL,
])

try {
  const load = {
    requests: bearers.map((bearer) => ({ path: '/api/agents/me', bearer })),
    status: 200,
  }
  const urls = { api: api.url, bare: bare.url }
  // Until the compiler has optimized both.
  for (const url of [bare.url, api.url]) await measure(url, { ...load, connections: 16 }, WARM_UP_SECONDS)
  const what = (connections: number) => `GET /api/agents/me, 40 keys, ${connections} connections`
  const course = { rounds: ROUNDS, seconds: SECONDS }
  const many = await comparePair(
    { what: what(16), aim: '0.85, CPU 1.6 times' },
    urls,
    { ...load, connections: 16 },
    course,
  )
  const one = await comparePair({ what: what(1), aim: '0.55' }, urls, { ...load, connections: 1 }, course)
  const blockedMs = await presentPage(agents[0]?.id ?? '')
  report([
    many,
    one,
    {
      what: `a page of ${PAGE} agents: event loop blocked`,
      measured: `${blockedMs.toFixed(2)} ms`,
      aim: '5 ms',
      cpu: '',
    },
  ])
} finally {
  bare.stop()
  api.kill('SIGTERM')
  await api.exited
  await parts.stop()
}
