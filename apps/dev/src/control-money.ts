import { ApiError } from '@market/kernel/api-error'
import { parseUsd } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import type { FastifyInstance } from 'fastify'
import { parseUnits } from 'viem'
import type { Networks } from './networks/start-networks.ts'

const NETWORK = { type: 'string', enum: NETWORKS }
const ADDRESS = { type: 'string', minLength: 32, maxLength: 44 }

/** `12.5` as a number or as text; what it says is read below. */
const AMOUNT = { type: ['number', 'string'], maxLength: 20 }

/** Of the coin that pays fees, in its smallest unit. */
const COIN_DECIMALS: Readonly<Record<Network, number>> = {
  'solana-mainnet': 9,
  'base-mainnet': 18,
  'alt-mainnet': 18,
}

const body = (required: readonly string[], properties: Readonly<Record<string, unknown>>) => ({
  schema: { body: { type: 'object', required, additionalProperties: false, properties } },
})
const WALLET = body(['network'], { network: NETWORK })
const FUND = body(['network', 'address'], {
  network: NETWORK,
  address: ADDRESS,
  usdc: AMOUNT,
  native: AMOUNT,
})
const TRANSFER = body(['network', 'to', 'amount_usd'], {
  network: NETWORK,
  to: ADDRESS,
  amount_usd: AMOUNT,
  from: ADDRESS,
})

type Amount = number | string

/** Money on the local chains: wallets to pay from, coin for anybody, and real transfers. */
export function mountMoney(app: FastifyInstance, networks: Networks | undefined): void {
  const chains = (): Networks => {
    if (networks !== undefined) return networks
    throw new ApiError('invalid', 'This marketplace was started with --no-chains')
  }
  app.post<{ Body: { network: Network } }>('/wallets', WALLET, async ({ body: { network } }) => ({
    address: await chains().newWallet(network),
  }))
  app.post<{ Body: { network: Network; address: string; usdc?: Amount; native?: Amount } }>(
    '/fund',
    FUND,
    async ({ body: { network, address, usdc = 0, native = 0 } }) => {
      const coin = parseUnits(textOf(native), COIN_DECIMALS[network])
      await chains().fund(network, address, { usdc: microsOf(usdc), native: coin })
      return { address }
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

/** More than anybody needs, and far below what the chains can count to. */
const MOST = 1_000_000_000

function microsOf(given: Amount): bigint {
  const micros = parseUsd(textOf(given))
  if (micros === undefined) throw new ApiError('invalid', `${given} is no amount of USDC such as 12.5`)
  return micros
}

/** Written out, because a small number by itself shows an exponent. */
function textOf(given: Amount): string {
  const text = typeof given === 'string' ? given : given.toFixed(9).replace(/\.?0+$/, '')
  const isExact = typeof given === 'string' || Number(text) === given
  if (isExact && /^\d{1,10}(\.\d{1,9})?$/.test(text) && Number(text) <= MOST) return text
  throw new ApiError('invalid', `${given} is no amount from 0 to ${MOST} with at most 9 decimals`)
}
