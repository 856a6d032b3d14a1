import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '@market/kernel/network'
import type { Place } from '../journeys/order-journeys.ts'
import type { Reply } from '../support/client.ts'
import { DESCRIPTION, makeOwnedAgent, signed, someName } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { BRIEF } from '../support/orders.ts'
import { makeService } from '../support/services.ts'
import { setPayout } from '../support/set-payout.ts'
import { until } from '../support/until.ts'
import { newAddress, type WalletAgent } from '../wallets/wallet-market.ts'

/** Clients that go on through a failover: they repeat what was not answered, and read again what they were told. */

const LONG = { withinMs: 240_000, everyMs: 200 }
const PRICE = 2_000_000n
export const PAYOUT = 1_800_000n
export const SENT = 10_000_000n

/** When each write was acknowledged. */
export interface Written {
  readonly what: string
  readonly at: number
}

/** A first request with the key still runs, or the wallet does what was requested before. */
const IS_BUSY = new Set(['request_in_progress', 'wallet_busy'])

/** Sends the same request with the same key until the api answers it. */
async function repeat(call: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await call().catch(() => undefined)
    const isAnswered = reply !== undefined && reply.status < 500 && reply.status !== 429
    if (isAnswered && !IS_BUSY.has(reply.body.code ?? '')) return reply
    await wait(100)
  }
}

export interface FailoverOrder {
  readonly id: string
  readonly seller: Seller
  /** What the client was told is done. */
  readonly done: Set<Step>
  /** What it was told is done, and had to do again. */
  readonly again: Set<Step>
  transfer?: string
  /** The marketplace does not know the order any more. */
  isGone: boolean
}

type Step = 'create' | 'pay' | 'deliver' | 'approve'

const STEPS: Readonly<Record<string, Step>> = { quoted: 'pay', paid: 'deliver', delivered: 'approve' }

type Seller = Awaited<ReturnType<typeof makeSeller>>

export async function makeSeller(market: Market, network: Network, place: Place) {
  const agent = await makeOwnedAgent(market)
  const buyer = await place.newWallet()
  // An owner with an EVM wallet says where it wants to be paid on Solana.
  const payee = network === 'solana-mainnet' ? (await place.newWallet()).address : agent.owner.address
  if (network === 'solana-mainnet') await setPayout(market, agent, 'payout_wallet', payee)
  const service = await makeService(market, agent, { price_usd: '2.00' })
  return { ...agent, network, place, buyer, payee, service, begun: await place.balanceOf(payee) }
}

export const startOrder = async (
  market: Market,
  seller: Seller,
  written: Written[],
): Promise<FailoverOrder> => {
  const { service, buyer } = seller
  const proof = await signed(buyer, `orders.create:${service.id}`)
  const body = { service_id: service.id, brief: BRIEF, ...proof }
  const key = randomUUID()
  const reply = await repeat(() => market.client().post('/api/orders', body, { key }))
  if (reply.status !== 201) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  written.push({ what: 'create', at: Date.now() })
  return { id: reply.body.data.id, seller, done: new Set(['create']), again: new Set(), isGone: false }
}

/** Does whatever the order waits for until it is completed, or the marketplace does not know it. */
export const carryOn = (market: Market, order: FailoverOrder, written: Written[]): Promise<void> =>
  until(
    `${order.id} is completed`,
    async () => {
      const bearer = { bearer: order.seller.apiKey }
      const { status, body } = await repeat(() => market.client().get(`/api/orders/${order.id}`, bearer))
      order.isGone = status === 404
      if (order.isGone || body.data.order.status === 'completed') return true
      const step = body.data.pending_payment === null ? STEPS[body.data.order.status] : undefined
      if (step === undefined) return false
      const reply = await perform(market, order, step)
      if (reply.status >= 300) return false
      if (order.done.has(step)) order.again.add(step)
      order.done.add(step)
      written.push({ what: step, at: Date.now() })
      return false
    },
    LONG,
  )

async function perform(market: Market, order: FailoverOrder, step: Step): Promise<Reply> {
  const { seller } = order
  const path = `/api/orders/${order.id}`
  const key = randomUUID()
  if (step === 'deliver')
    return repeat(() =>
      market
        .client()
        .post(
          `${path}/deliver`,
          { deliverable_url: 'https://hooks.example/x' },
          { bearer: seller.apiKey, key },
        ),
    )
  order.transfer ??= await seller.buyer.pay(PRICE)
  const proof = await signed(seller.buyer, `orders.${step}:${order.id}`)
  const payment = { escrow_tx_hash: order.transfer, payment_network: seller.network }
  const body = { action: step, ...(step === 'pay' && payment), ...proof }
  return repeat(() => market.client().patch(path, body, { key }))
}

/** A send of SOL from the wallet of an agent, which its owner requests. The same request can be repeated. */
export async function newSend(market: Market, agent: WalletAgent, written: Written[]) {
  const to = await newAddress()
  const amount = Number(SENT) / 1e9
  const proof = await signed(agent.owner, `wallets.send:${agent.id}:SOL:${to}:${amount}`)
  const body = { chain: 'solana', asset: 'SOL', to, amount, ...proof }
  const key = randomUUID()
  const request = async () => {
    const path = `/api/agents/${agent.id}/wallet/send`
    const reply = await repeat(() => market.client().post(path, body, { key }))
    if (reply.status >= 300) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
    written.push({ what: 'send', at: Date.now() })
  }
  return { to, request }
}

export type Send = Awaited<ReturnType<typeof newSend>>

/** Registers an agent, the smallest write. */
export async function register(market: Market, written: Written[]): Promise<string> {
  const body = { name: someName(), description: DESCRIPTION }
  const key = randomUUID()
  const reply = await repeat(() => market.client().post('/api/agents/register', body, { key }))
  written.push({ what: 'register', at: Date.now() })
  return reply.body.data.agent_id
}

/** A seller that follows its events by their cursor, and continues where it is told when that is lost. */
export function followEvents(market: Market, { apiKey }: Seller) {
  const end = new AbortController()
  const seen = new Set<string>()
  let cursor = '0'
  let resets = 0
  const read = async (): Promise<number> => {
    const path = `/api/events?after=${cursor}&limit=100`
    const { status, body } = await repeat(() => market.client().get(path, { bearer: apiKey }))
    cursor = body.next_cursor ?? cursor
    if (status === 409) resets++
    for (const { event, order_id } of body.data ?? []) seen.add(`${event} ${order_id}`)
    return body.data?.length ?? 1
  }
  const reading = (async () => {
    while (!end.signal.aborted) {
      await read()
      await wait(200)
    }
  })()
  return {
    seen,
    resets: () => resets,
    /** Reads to the end. */
    stop: async () => {
      end.abort()
      await reading
      while ((await read()) > 0);
    },
  }
}
