import { setTimeout as wait } from 'node:timers/promises'
import { NETWORKS, type Network } from '@market/kernel/network'
import type { EvmNetwork } from '@market/testing/evm-network'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { Address } from 'viem'
import type { SolanaWorld } from '../chains/solana-support.ts'
import { type Reply, someAddress } from '../support/client.ts'
import { asHeaders, makeOwnedAgent, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import type { ChainOptions } from '../support/market-chains.ts'
import { makeService } from '../support/services.ts'
import { setPayout } from '../support/set-payout.ts'
import { type Buyer, evmBuyer, solanaBuyer } from './buyers.ts'

export const BRIEF = 'Read the branch called blue.'
export const PRICE = 10_000_000n
/** The price plus the fee. */
export const DUE = 11_000_000n

const SOLANA_CAIP2 = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

/** One network from the view of a buyer. */
export interface Place {
  readonly network: Network
  readonly caip2: string
  readonly usdc: string
  readonly treasury: string
  newBuyer(): Promise<Buyer>
  balanceOf(owner: string): Promise<bigint>
}

const evmPlace = (network: Network, { chain, treasury }: { chain: EvmNetwork; treasury: Address }) => ({
  network,
  caip2: `eip155:${chain.chainId}`,
  usdc: chain.usdc,
  treasury,
  newBuyer: () => evmBuyer(chain, network, treasury),
  balanceOf: (owner: string) => chain.balanceOf(owner as Address),
})

const solanaPlace = ({ chain, treasury }: { chain: SolanaWorld; treasury: string }) => ({
  network: 'solana-mainnet' as const,
  caip2: SOLANA_CAIP2,
  usdc: chain.usdc.mint,
  treasury,
  newBuyer: () => solanaBuyer(chain, SOLANA_CAIP2, treasury),
  balanceOf: (owner: string) => chain.usdc.balanceOf(owner),
})

export type PurchaseWorld = Awaited<ReturnType<typeof startPurchaseWorld>>

const SEEN_WITHIN_MS = 12_000
const ASK_EVERY_MS = 400

/** Repeats the request while its transaction is not on the chain yet, as its response asks for. */
async function untilSeen(send: () => Promise<Reply>): Promise<Reply> {
  const deadline = performance.now() + SEEN_WITHIN_MS
  for (;;) {
    const reply = await send()
    const isWaiting = reply.status === 402 && reply.body.error === 'transaction_not_found_yet'
    if (!isWaiting || performance.now() > deadline) return reply
    await wait(ASK_EVERY_MS)
  }
}

/** The API in this process on three real chains, each with a treasury and a gas account. */
export async function startPurchaseWorld(
  settings: Readonly<Record<string, string>> = {},
  options: ChainOptions = {},
) {
  const market = await startMarket(
    { BASE_CONFIRMATIONS: '0:1', ALT_CONFIRMATIONS: '0:1', ...settings },
    { chains: NETWORKS, gas: true, ...options },
  )
  const { 'base-mainnet': base, 'alt-mainnet': alt, 'solana-mainnet': solana } = market.chains
  const places = {
    'base-mainnet': evmPlace('base-mainnet', base),
    'alt-mainnet': evmPlace('alt-mainnet', alt),
    'solana-mainnet': solanaPlace(solana),
  } as const satisfies Readonly<Record<Network, Place>>
  const client = () => market.client()
  const payPath = (serviceId: string) => `/api/x402/pay?service_id=${serviceId}`

  return {
    market,
    base,
    alt,
    solana,
    places,
    client,
    payPath,
    newSeller: (fields: Record<string, unknown> = {}, agent: Record<string, unknown> = {}) =>
      makeSeller(market, solana.chain, fields, agent),
    /** Sends the hash of a transfer in `X-PAYMENT`. */
    buyWithTransfer: (
      serviceId: string,
      buyer: Pick<Buyer, 'network'>,
      reference: string,
      { brief = BRIEF, headers = {} }: { brief?: string; headers?: Record<string, string> } = {},
    ): Promise<Reply> =>
      untilSeen(() =>
        client().post(
          payPath(serviceId),
          { brief },
          { headers: { 'x-payment': reference, 'x-payment-network': buyer.network, ...headers } },
        ),
      ),
    /** Sends a signed payment, to the first api unless another one is given. */
    buyWithSignature: (
      serviceId: string,
      payment: string,
      { brief = BRIEF, api = market }: { brief?: string; api?: Pick<Market, 'client'> } = {},
    ): Promise<Reply> =>
      api.client().post(payPath(serviceId), { brief }, { headers: { 'payment-signature': payment } }),
    /** The payment header that an unmodified client would send with its next request. */
    signPayment: async (serviceId: string, { stock }: Pick<Buyer, 'stock'>): Promise<string> => {
      const quote = await client().post(payPath(serviceId), { brief: BRIEF })
      const required = decodePaymentRequiredHeader(quote.headers.get('payment-required') ?? '')
      return encodePaymentSignatureHeader(await stock.createPaymentPayload(required))
    },
    /** Headers with the payer's signature for this payment and purchase. */
    payerHeaders: async (buyer: Pick<Buyer, 'address' | 'sign'>, purpose: string) =>
      asHeaders(await signed(buyer, purpose)),
    ordersOf: (reference: string) =>
      market.db.selectFrom('orders').selectAll().where('payment_reference', '=', reference).execute(),
    stop: market.stop,
  }
}

/** An agent with payout addresses on all three networks: its owner's wallet on two, a configured one on the third. */
async function makeSeller(
  market: Market,
  solana: SolanaWorld,
  fields: Record<string, unknown>,
  agent: Record<string, unknown>,
) {
  const made = await makeOwnedAgent(market, agent)
  const { address: solanaPayee } = await solana.wallet()
  await setPayout(market, made, 'payout_wallet', solanaPayee)
  const service = await makeService(market, made, { price_usd: '10.00', ...fields })
  const payees = {
    'base-mainnet': made.owner.address,
    'alt-mainnet': made.owner.address,
    'solana-mainnet': solanaPayee,
  } as const satisfies Readonly<Record<Network, string>>
  return { ...made, serviceId: service.id, payees }
}

/** Options of `fetch` to post this body from a new client address. */
export const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', 'x-forwarded-for': someAddress(), ...headers },
})

/** Decodes a header of base64 JSON. */
export const decoded = (headers: Headers, name: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(headers.get(name) ?? 'e30=', 'base64').toString('utf8')) as Record<string, unknown>
