import { randomInt } from 'node:crypto'
import type { Chain, Chains } from '@market/core/ports/chain'
import type { Facilitator, Facilitators } from '@market/core/ports/facilitator'
import { createCaches } from '@market/handlers/caches'
import { eventStreams } from '@market/handlers/event-streams'
import { executor } from '@market/handlers/execute'
import { catalogDocuments } from '@market/handlers/x402/catalog'
import { createMetrics } from '@market/http/metrics'
import { buildServer } from '@market/http/server'
import { unavailable } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { newLimiter, testAppServices } from '../support/app-services.ts'
import { type Market, startMarket } from '../support/market.ts'

const ATTEMPTS = 20

export const TREASURY = {
  'solana-mainnet': 'TreaSuryTreaSuryTreaSuryTreaSuryTreaSuryTrea',
  'base-mainnet': `0x${'7e'.repeat(20)}`,
  'alt-mainnet': `0x${'a1'.repeat(20)}`,
} as const satisfies Record<Network, string>

export const USDC = {
  'solana-mainnet': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'base-mainnet': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'alt-mainnet': `0x${'c0'.repeat(20)}`,
} as const satisfies Record<Network, string>

export const CAIP2 = {
  'solana-mainnet': 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'base-mainnet': 'eip155:8453',
  'alt-mainnet': 'eip155:137',
} as const satisfies Record<Network, string>

/** `extra` of each network's requirement; Solana's also has values that would be stale in a catalog. */
export const EXTRA: Readonly<Record<Network, Readonly<Record<string, unknown>>>> = {
  'solana-mainnet': {
    feePayer: 'FeePayerFeePayerFeePayerFeePayerFeePayerFeeP',
    recentBlockhash: 'MomentMomentMomentMomentMomentMomentMomentMo',
    lastValidBlockHeight: '12345',
  },
  'base-mainnet': { name: 'USD Coin', version: '2' },
  'alt-mainnet': { name: 'USD Coin', version: '2' },
}

/** The catalog must not query a chain, so every query fails. */
const away = async () => {
  throw unavailable('the catalog must not query a chain')
}

const stubChain = (network: Network): Chain => ({
  network,
  treasury: TREASURY[network],
  minPayout: usdc(50_000n),
  usdc: USDC[network],
  findTransfer: away,
  checkTransfer: away,
  startingBlock: away,
  finalMovementsAfter: away,
  displayAddress: (address) => address,
  heights: away,
  balanceOf: away,
  checkNodes: away,
})

const stubFacilitator = (network: Network): Facilitator => ({
  network,
  caip2: CAIP2[network],
  v1: undefined,
  gasAccount: 'gas',
  extra: EXTRA[network],
  parsePayment: () => undefined,
  rejectionReason: away,
  readTerms: away,
  minedNonce: away,
  sign: away,
  replaceWithHigherFee: away,
  send: away,
  observe: away,
  readGas: away,
})

interface Open {
  readonly open?: readonly Network[]
  /** Networks that accept signed payments. */
  readonly signed?: readonly Network[]
  readonly cacheMs?: number
  readonly sharedReadMs?: number
}

/** A listening API server on the database of a market, with stub chains. */
export async function startCatalogServer(
  market: Market,
  { open = ['solana-mainnet', 'base-mainnet'], signed = open, cacheMs = 0, sharedReadMs = 0 }: Open = {},
) {
  const limiter = newLimiter()
  await limiter.ready()
  const faults: unknown[] = []
  const chains: Chains = Object.fromEntries(open.map((network) => [network, stubChain(network)]))
  const facilitators: Facilitators = Object.fromEntries(
    signed.map((network) => [network, stubFacilitator(network)]),
  )
  const build = (baseUrl: string) => {
    const app = testAppServices(market.db, {
      ...{
        limiter,
        chains,
        facilitators,
        baseUrl,
        ...createCaches({ documentMs: cacheMs, sharedReadMs }),
      },
      onFault: (error) => faults.push(error),
    })
    return buildServer({
      execute: executor(app),
      streams: eventStreams(app),
      documents: catalogDocuments(app),
      baseUrl,
      appUrl: baseUrl,
      receiptKeys: app.receipts.keys,
      trustedProxies: ['127.0.0.1'],
      onUntrustedProxy: () => {},
      clientLimits: {
        countRequest: () => ({ allowed: true, resetsInMs: 0 }),
        maxRequests: Number.POSITIVE_INFINITY,
        maxConnections: Number.POSITIVE_INFINITY,
      },
      metricsReaders: [],
      metrics: createMetrics(),
      health: { whyNotReady: async () => undefined, isDraining: () => false },
      log: { info: () => undefined },
      onFault: (error) => faults.push(error),
    })
  }
  const { server, url } = await listenSomewhere(build)
  return {
    url,
    faults,
    /** The raw response of a route. */
    get: async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}${path}`, { headers })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text }
    },
    stop: async () => {
      await server.close()
      await limiter.stop()
    },
  }
}

/** Responses contain the server's URL, so its port is chosen first, below the ephemeral range. */
async function listenSomewhere(build: (baseUrl: string) => ReturnType<typeof buildServer>) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(20_000, 32_000)
    const url = `http://127.0.0.1:${port}`
    const server = build(url)
    const isOpen = await server.listen({ port, host: '127.0.0.1' }).then(
      () => true,
      () => false,
    )
    if (isOpen) return { server, url }
    await server.close()
  }
  throw new Error('no free port was found')
}

/** A market with sellers, and a server of its catalog. */
export async function startCatalogWorld(settings: Open = {}) {
  const market = await startMarket()
  const server = await startCatalogServer(market, settings)
  return {
    market,
    server,
    stop: async () => {
      await server.stop()
      await market.stop()
    },
  }
}
