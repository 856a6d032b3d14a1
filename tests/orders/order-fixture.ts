import { randomBytes } from 'node:crypto'
import { type Actor, provenWallets } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import { totals } from '@market/money/ledger'
import { checkIntents, recheckTransfers } from '@market/money/payments'
import type { Listing, Offer } from '@market/offers/listings'
import { agentActor, walletActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeListedAgent } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import {
  acceptOrder,
  applyDueTransitions,
  approveOrder,
  cancelOrder,
  createOrder,
  declineRevision,
  deliverOrder,
  disputeOrder,
  getOrder,
  type Order,
  orderPurpose,
  quoteOrder,
  refundOrder,
  requestRevision,
  resolveDispute,
  type Status,
  startOrder,
  TRANSITIONS,
} from '@market/trade/orders'
import { PURPOSES } from '@market/worker/payment-handlers'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { ledgerFaults } from '../ledger/ledger-fixtures.ts'
import { InMemoryChain, newPayment } from '../payments/in-memory-chain.ts'
import { follow } from '../support/follow.ts'
import { payByTransfer } from '../support/named-transfers.ts'

export const NETWORK = 'base-mainnet'
export const PRICE = usdc(25_000_000n)
const CONNECTIONS = 20

export type OrderFixture = Awaited<ReturnType<typeof openOrderFixture>>
export type TestBuyer = ReturnType<typeof newBuyer>

export interface Seller {
  readonly provider: Actor
  readonly listing: Listing
}

/** A wallet that buys, on paper. */
export const newBuyer = () => walletActor(`0x${randomBytes(20).toString('hex')}`)

/** The ledger balances of one order. */
interface Money {
  readonly id: OrderId
  readonly status: Status
  readonly price: bigint | null
  readonly outcome: string | null
  readonly escrow: bigint
  readonly payout: bigint
  readonly refund: bigint
}

/**
 * Orders by the real commands on a real database, and a chain on paper that can be undone: what the api and the worker
 * do, in short words. Nothing leaves the treasury here, so what was decided stays to be counted.
 */
export async function openOrderFixture() {
  const chain = new InMemoryChain()
  const { clock } = chain
  const database = await testDatabase({ maxConnections: CONNECTIONS })
  const actor = { kind: 'user', userId: 'arbiter', token: '', admin: true } as const
  const ctx = { ...marketContext({ db: database.db, clock, actor }), chains: { [NETWORK]: chain } }

  const makeSeller = async (offer: Partial<Offer> = {}): Promise<Seller> => {
    const { agent } = await makeListedAgent(ctx)
    const listing = await makeListing(ctx, agent.id, { price: PRICE, ...offer })
    return { provider: agentActor(agent.id), listing }
  }

  const create = ({ listing }: Seller, buyer: Actor): Promise<Order> =>
    createOrder(ctx, buyer, {
      listingId: listing.id,
      brief: 'Review the branch from yesterday, please.',
      referenceUrls: [],
      referenceImages: [],
      requirementAnswers: {},
      isPrivate: false,
      clientWallet: provenWallets(buyer)[0]?.key ?? null,
    })
  /** A transfer into the treasury, in a block of its own. */
  const send = (from: string, micros: bigint = PRICE): string => {
    const payment = newPayment([[from, micros]])
    chain.mine([payment])
    return payment.reference
  }
  const pay = (buyer: Actor, orderId: OrderId, reference: string) =>
    payByTransfer(ctx, buyer, orderPurpose, { orderId, network: NETWORK, reference })
  const deliver = ({ provider }: Seller, orderId: OrderId) =>
    deliverOrder(ctx, provider, { orderId, items: [{ type: 'text', content: 'Blue.' }], note: null })
  const read = async (id: OrderId): Promise<Order> => (await getOrder(ctx, actor, id)).order
  /** What the viewer is told about an action; undefined when it is not one of their role. */
  const offered = async (viewer: Actor, id: OrderId, action: string) =>
    (await getOrder({ ...ctx, actor: viewer }, viewer, id)).acts.find((one) => one.action === action)
  /** An order that was paid at once. */
  const paid = async (seller: Seller, buyer: TestBuyer): Promise<OrderId> => {
    const { id } = await create(seller, buyer)
    await pay(buyer, id, send(buyer.wallet.key))
    return id
  }
  const delivered = async (seller: Seller, buyer: TestBuyer): Promise<OrderId> => {
    const id = await paid(seller, buyer)
    await deliver(seller, id)
    return id
  }
  const moneyOf = async (ids: readonly OrderId[]): Promise<Money[]> => {
    const { rows } = await sql<Money>`
      select one.id, one.status, one.price_micros as price, one.outcome,
        coalesce(held.balance_micros, 0)::bigint as escrow,
        (select coalesce(sum(account.balance_micros), 0)::bigint from payouts payout
          join ledger_accounts account on account.id = ${`payable:${NETWORK}:`} || payout.id
          where payout.subject = one.id and payout.kind = 'payout') as payout,
        (select coalesce(sum(account.balance_micros), 0)::bigint from payouts payout
          join ledger_accounts account on account.id = ${`payable:${NETWORK}:`} || payout.id
          where payout.subject = one.id and payout.kind = 'refund') as refund
      from orders one left join ledger_accounts held
        on held.id = ${`escrow:${NETWORK}:order:`} || one.id
      where one.id = any(${[...ids]}::text[])`.execute(database.db)
    return rows
  }

  return {
    create,
    send,
    pay,
    deliver,
    read,
    offered,
    paid,
    delivered,
    moneyOf,
    ctx,
    chain,
    clock,
    db: database.db,
    makeSeller,
    accept: (buyer: Actor, id: OrderId) => acceptOrder(ctx, buyer, id),
    approve: (buyer: Actor, id: OrderId) => approveOrder(ctx, buyer, id),
    cancel: (actor: Actor, id: OrderId) => cancelOrder(ctx, actor, id),
    dispute: (buyer: Actor, orderId: OrderId) => disputeOrder(ctx, buyer, { orderId, reason: 'Not blue' }),
    revise: (buyer: Actor, orderId: OrderId) => requestRevision(ctx, buyer, { orderId, feedback: 'Blue' }),
    quote: ({ provider }: Seller, orderId: OrderId, price: Usdc = PRICE, expiresInHours = 72) =>
      quoteOrder(ctx, provider, { orderId, price, expiresInHours, message: null }),
    start: ({ provider }: Seller, id: OrderId) => startOrder(ctx, provider, id),
    decline: ({ provider }: Seller, id: OrderId) => declineRevision(ctx, provider, id),
    refund: ({ provider }: Seller, id: OrderId) => refundOrder(ctx, provider, id),
    resolve: (id: OrderId, verdict: Parameters<typeof resolveDispute>[2]) =>
      resolveDispute(ctx, id, verdict, 'Both were heard.'),
    /** What the worker does again and again. */
    sweepDue: () => applyDueTransitions(ctx),
    finish: () => checkIntents(ctx, PURPOSES),
    watch: () => follow(ctx, NETWORK),
    recheck: async () => {
      await follow(ctx, NETWORK)
      return recheckTransfers(ctx, PURPOSES)
    },
    /** Every order's history is a path through the table, from where orders begin to where this one is. */
    async expectReachable(ids: readonly OrderId[]): Promise<void> {
      for (const id of ids) {
        const steps = await database.db
          .selectFrom('order_steps')
          .select(['action', 'from_status', 'to_status'])
          .where('order_id', '=', id)
          .orderBy('n')
          .execute()
        const { status, priceType } = await read(id)
        let at: string = priceType === 'quote' ? 'pending_quote' : 'quoted'
        for (const { action, from_status, to_status } of steps) {
          expect(from_status).toBe(at)
          const onward: Readonly<Record<string, string>> = TRANSITIONS[at as Status]
          // A transfer named before it is settled is a yes to the price.
          expect(onward[action]).toBe(to_status)
          at = to_status
        }
        expect(status).toBe(at)
      }
    },
    async expectWhole(ids: readonly OrderId[]): Promise<Money[]> {
      const money = await moneyOf(ids)
      expect(money).toHaveLength(ids.length)
      for (const one of money) expectLawful(one)
      return money
    },
    async expectBalanced(): Promise<void> {
      expect(await totals(database.db, NETWORK)).toMatchObject({ imbalance: 0n })
      expect(await ledgerFaults(database.db)).toEqual([])
    },
    stop: () => database.stop(),
  }
}

const HOLDS: readonly Status[] = ['paid', 'in_progress', 'delivered', 'revision_requested', 'disputed']

/** In escrow is exactly what the state says, and what left it went where the outcome says. */
function expectLawful({ id, status, price, outcome, escrow, payout, refund }: Money): void {
  const found = { id, status, escrow, payout, refund }
  const due = price ?? 0n
  const inEscrow = HOLDS.includes(status) ? due : 0n
  expect(found).toEqual({ id, status, escrow: inEscrow, ...shares(due, { outcome, refund }) })
}

/** What each side gets. Of an unpaid order only a transfer that came too late goes back. */
function shares(due: bigint, { outcome, refund }: Pick<Money, 'outcome' | 'refund'>) {
  switch (outcome) {
    case 'released':
      return { payout: due - due / 10n, refund: 0n }
    case 'refunded':
      return { payout: 0n, refund: due }
    case 'split':
      return { payout: due - refund - (due - refund) / 10n, refund }
    case 'unpaid':
      return { payout: 0n, refund }
    default:
      return { payout: 0n, refund: 0n }
  }
}
