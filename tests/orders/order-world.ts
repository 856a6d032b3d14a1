import type { EvmNetwork } from '@market/testing/evm-network'
import type { Status } from '@market/trade/orders'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Reply } from '../support/client.ts'
import { makeOwnedAgent, signed, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import type { ChainOptions } from '../support/market-chains.ts'
import { operatorToken } from '../support/operator.ts'
import { BRIEF } from '../support/orders.ts'
import { makeService } from '../support/services.ts'

export type OrderWorld = Awaited<ReturnType<typeof startOrderWorld>>
type Buyer = Awaited<ReturnType<typeof makeBuyer>>
type Seller = Awaited<ReturnType<typeof makeSeller>>

const PRICE_USD = '25.00'
export const PRICE = 25_000_000n
const RICH = 1_000_000_000_000n

export const DELIVERY = { deliverable_url: 'https://hooks.example/x' }

export const isDone = (reply: Reply): Reply => {
  if (reply.status >= 300) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply
}

/** A wallet with money that buys by signing. */
async function makeBuyer(market: Market, chain: EvmNetwork) {
  const account = privateKeyToAccount(generatePrivateKey())
  const signer = { address: account.address, sign: (message: string) => account.signMessage({ message }) }
  await chain.fund(account.address)
  await chain.mint(account.address, RICH)
  return {
    ...signer,
    account,
    /** Signs for one purpose, now. */
    proof: (purpose: string) => signed(signer, purpose),
    headers: (purpose = 'session') => signOnce(market, signer, purpose),
  }
}

/** An agent with an owner and something to sell. */
async function makeSeller(market: Market, fields: Record<string, unknown> = {}) {
  const agent = await makeOwnedAgent(market)
  const service = await makeService(market, agent, {
    title: 'Reviews a pull request',
    price_usd: PRICE_USD,
    ...fields,
  })
  return { ...agent, serviceId: service.id }
}

/** How an order comes to each state: the one before it, and the act that leads on from there. */
const WAY: Readonly<Record<Status, readonly [from: Status | 'nothing', act: string]>> = {
  pending_quote: ['nothing', 'ask'],
  quoted: ['pending_quote', 'quote'],
  accepted: ['quoted', 'accept'],
  paid: ['accepted', 'pay'],
  in_progress: ['paid', 'start'],
  delivered: ['in_progress', 'deliver'],
  revision_requested: ['delivered', 'revision'],
  disputed: ['delivered', 'dispute'],
  completed: ['delivered', 'approve'],
  cancelled: ['quoted', 'cancel'],
}

/** The api in this process, connected to a real chain as Base: buyers with money, agents with something to sell. */
export async function startOrderWorld(
  settings: Readonly<Record<string, string>> = {},
  options: ChainOptions = {},
) {
  const market = await startMarket(settings, { chains: ['base-mainnet'], ...options })
  const { client } = market
  const { chain, treasury, gas } = market.chains['base-mainnet']

  const act = async (buyer: Buyer, orderId: string, action: string, fields: Record<string, unknown> = {}) =>
    client().patch(`/api/orders/${orderId}`, {
      action,
      ...fields,
      ...(await buyer.proof(`orders.${action}:${orderId}`)),
    })
  const byKey = (apiKey: string, orderId: string, action: string, fields: Record<string, unknown> = {}) =>
    client().patch(`/api/orders/${orderId}`, { action, ...fields }, { bearer: apiKey })
  const order = async (buyer: Buyer, serviceId: string, fields: Record<string, unknown> = {}) =>
    client().post('/api/orders', {
      service_id: serviceId,
      brief: BRIEF,
      ...fields,
      ...(await buyer.proof(`orders.create:${serviceId}`)),
    })
  const deliver = (apiKey: string, orderId: string, fields: Record<string, unknown> = DELIVERY) =>
    client().post(`/api/orders/${orderId}/deliver`, fields, { bearer: apiKey })
  const quote = (apiKey: string, orderId: string, fields: Record<string, unknown> = {}) =>
    client().post(`/api/orders/${orderId}/quote`, { price_usd: PRICE_USD, ...fields }, { bearer: apiKey })
  const resolve = async (orderId: string, verdict: Record<string, unknown>) =>
    client().post(
      `/api/admin/orders/${orderId}/resolve`,
      { note: 'Both were heard.', ...verdict },
      { bearer: await operatorToken(market) },
    )
  /** A real transfer of USDC into the treasury. */
  const transfer = (buyer: Buyer, micros: bigint) => chain.transfer(buyer.account, treasury, micros)
  /** The same, settled enough to count. */
  const settled = async (buyer: Buyer, micros: bigint = PRICE) => {
    const hash = await transfer(buyer, micros)
    await chain.mine(2)
    return hash
  }

  const steps: Record<string, (of: Parties, id: string) => Promise<Reply>> = {
    quote: ({ seller }, id) => quote(seller.apiKey, id),
    accept: ({ buyer }, id) => act(buyer, id, 'accept'),
    pay: async ({ buyer }, id) => act(buyer, id, 'pay', { escrow_tx_hash: await settled(buyer) }),
    start: ({ seller }, id) => byKey(seller.apiKey, id, 'start'),
    deliver: ({ seller }, id) => deliver(seller.apiKey, id),
    revision: ({ buyer }, id) => act(buyer, id, 'revision', { feedback: 'A little more blue' }),
    dispute: ({ buyer }, id) => act(buyer, id, 'dispute', { reason: 'It is not blue' }),
    approve: ({ buyer }, id) => act(buyer, id, 'approve'),
    cancel: ({ buyer }, id) => act(buyer, id, 'cancel'),
  }

  /** Brings an order of these two into a state, every step by a call. */
  const walk = async (parties: Parties, to: Status): Promise<string> => {
    const [from, step] = WAY[to]
    if (from === 'nothing') {
      const reply = isDone(await order(parties.buyer, parties.seller.serviceId))
      return reply.body.data.id as string
    }
    const id = await walk(parties, from)
    const take = steps[step]
    if (take === undefined) throw new Error(`no way to ${step}`)
    isDone(await take(parties, id))
    return id
  }

  return {
    market,
    chain,
    treasury,
    gas,
    newBuyer: () => makeBuyer(market, chain),
    newSeller: (fields: Record<string, unknown> = {}) => makeSeller(market, fields),
    /** A buyer and a seller who names prices, and declines what goes beyond them. */
    newParties: async (fields: Record<string, unknown> = {}): Promise<Parties> => ({
      buyer: await makeBuyer(market, chain),
      seller: await makeSeller(market, {
        price_type: 'quote',
        price_usd: undefined,
        max_revisions: 0,
        ...fields,
      }),
    }),
    walk,
    order,
    transfer,
    settled,
    act,
    byKey,
    deliver,
    quote,
    resolve,
    /** Moves the clock of the api and of the chain. */
    advance: async (ms: number) => {
      await chain.rpc('evm_increaseTime', [ms / 1_000])
      await market.advance(ms)
    },
    stop: market.stop,
  }
}

export interface Parties {
  readonly buyer: Buyer
  readonly seller: Seller
}
