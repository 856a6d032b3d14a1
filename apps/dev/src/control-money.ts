import { ApiError } from '@market/kernel/api-error'
import { parseUsd } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import type { FastifyInstance } from 'fastify'
import { parseUnits } from 'viem'
import type { Networks } from './networks/start-networks.ts'

const NETWORK = { type: 'string', enum: NETWORKS }
const ADDRESS = { type: 'string', minLength: 32, maxLength: 44 }

/** `12.5` as a number or a string; parsed by `amountText`. */
const AMOUNT = { type: ['number', 'string'], maxLength: 20 }

/** Decimals of the native coin, which pays network fees. */
const COIN_DECIMALS: Readonly<Record<Network, number>> = {
  'solana-mainnet': 9,
  'base-mainnet': 18,
  'alt-mainnet': 18,
}

const body = (required: readonly string[], properties: Readonly<Record<string, unknown>>) => ({
  schema: { body: { type: 'object', required, additionalProperties: false, properties } },
})
const WALLET = body(['network'], { network: NETWORK, usdc: AMOUNT, native: AMOUNT })
const FUND = body(['network', 'address'], {
  network: NETWORK,
  address: ADDRESS,
  usdc: AMOUNT,
  native: AMOUNT,
})
const BLOCKS = body(['network', 'on'], { network: NETWORK, on: { type: 'boolean' } })
const TRANSFER = body(['network', 'to', 'amount_usd'], {
  network: NETWORK,
  to: ADDRESS,
  amount_usd: AMOUNT,
  from: ADDRESS,
})

type Amount = number | string

interface Funding {
  readonly network: Network
  readonly usdc?: Amount
  readonly native?: Amount
}

/** Adds the routes for the local chains: read their addresses, create a wallet, fund an address, transfer USDC. */
export function addMoneyRoutes(app: FastifyInstance, networks: Networks | undefined): void {
  const chains = (): Networks => {
    if (networks !== undefined) return networks
    throw new ApiError('invalid', 'There are no local chains. Restart without --no-chains.')
  }
  const fund = async (address: string, { network, usdc = 0, native = 0 }: Funding) => {
    const coin = parseUnits(amountText(native), COIN_DECIMALS[network])
    await chains().fund(network, address, { usdc: microsOf(usdc), native: coin })
  }
  app.get('/networks', async () => networks?.addresses ?? {})
  app.post<{ Body: Funding }>('/wallets', WALLET, async ({ body: funding }) => {
    const wallet = await chains().newWallet(funding.network)
    await fund(wallet.address, funding)
    return wallet
  })
  app.post<{ Body: Funding & { address: string } }>(
    '/fund',
    FUND,
    async ({ body: { address, ...funding } }) => {
      await fund(address, funding)
      return { address }
    },
  )
  app.post<{ Body: { network: Network; on: boolean } }>(
    '/blocks',
    BLOCKS,
    async ({ body: { network, on } }) => {
      await chains().makeBlocks(network, on)
      return { network, on }
    },
  )
  app.post<{ Body: { network: Network; to: string; amount_usd: Amount; from?: string } }>(
    '/transfer',
    TRANSFER,
    async ({ body: { network, to, amount_usd, from } }) => {
      const micros = microsOf(amount_usd)
      if (micros === 0n) throw new ApiError('invalid', 'amount_usd must be above 0')
      return await chains().transfer(network, to, micros, from)
    },
  )
}

/** Far below the largest amounts that the chains can store. */
const MAX_AMOUNT = 1_000_000_000

function microsOf(given: Amount): bigint {
  const micros = parseUsd(amountText(given))
  if (micros === undefined)
    throw new ApiError(
      'invalid',
      `${given} is not an amount of USDC. Send one such as 12.5, with at most 6 decimals.`,
    )
  return micros
}

/** Decimal notation, because `String` of a small number has an exponent. */
function amountText(given: Amount): string {
  const text = typeof given === 'string' ? given : given.toFixed(9).replace(/\.?0+$/, '')
  const isExact = typeof given === 'string' || Number(text) === given
  if (isExact && /^\d{1,10}(\.\d{1,9})?$/.test(text) && Number(text) <= MAX_AMOUNT) return text
  throw new ApiError('invalid', `${given} is not an amount. Send 0 to ${MAX_AMOUNT} with at most 9 decimals.`)
}
