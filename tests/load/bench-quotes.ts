import { startEvmNetwork } from '@market/testing/evm-network'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { client } from '../support/client.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { makeService } from '../support/services.ts'
import { comparePair, measure, startBare } from './bench-pair.ts'
import { report } from './bench-report.ts'

/** 402 quotes a second beside a bare server that sends the same bytes. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 7)
const SECONDS = Number(process.env['SECONDS'] ?? 3)
const WARM_UP_SECONDS = 5
const CONNECTIONS = 16

const chain = await startEvmNetwork({ chainId: 8453 })
const [treasury, gasKey] = [privateKeyToAddress(generatePrivateKey()), generatePrivateKey()]
const parts = await startParts({
  BASE_RPC_URLS: chain.url,
  BASE_TREASURY: treasury,
  BASE_GAS_KEY: gasKey.slice(2),
  BASE_GAS_ACCOUNT: privateKeyToAddress(gasKey),
})
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
const service = await makeService(market, await makeOwnedAgent(market))
const path = `/api/x402/discover/${service.id}`
const quote = await client(api.url).get(path)
const headers = Object.fromEntries(
  [...quote.headers].filter(
    ([name]) => !['content-length', 'connection', 'date', 'keep-alive'].includes(name),
  ),
)
const bare = await startBare('./bench-bare-quote.ts', [JSON.stringify({ body: quote.body, headers })])

try {
  const load = { requests: [{ path }], status: 402, connections: CONNECTIONS }
  for (const url of [bare.url, api.url]) await measure(url, load, WARM_UP_SECONDS)
  const what = `402 quotes, ${CONNECTIONS} connections`
  report([
    await comparePair({ what, aim: '0.5' }, { api: api.url, bare: bare.url }, load, {
      rounds: ROUNDS,
      seconds: SECONDS,
    }),
  ])
} finally {
  bare.stop()
  api.kill('SIGTERM')
  await api.exited
  await parts.stop()
  await chain.stop()
}
