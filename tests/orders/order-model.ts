import { HOUR, SECOND } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { type Action, type Order, type PossibleAct, type Status, TRANSITIONS } from '@market/trade/orders'
import fc from 'fast-check'
import { expect } from 'vitest'
import { outcome } from '../payments/payment-fixture.ts'
import { type OrderFixture, PRICE, type Seller, type TestBuyer } from './order-fixture.ts'

const MOST_ORDERS = 3

/** What a party does, by the table's own names. */
const PARTY_ACTS = [
  'quote',
  'accept',
  'start',
  'deliver',
  'revision',
  'decline_revision',
  'dispute',
  'approve',
  'cancel',
  'refund',
  'award',
  'reverse',
] as const satisfies readonly Action[]

export type OrderAct =
  | { readonly act: 'create'; readonly seller: number; readonly buyer: number }
  | { readonly act: (typeof PARTY_ACTS)[number]; readonly of: number; readonly share: number }
  | { readonly act: 'onward'; readonly of: number; readonly pick: number }
  | { readonly act: 'pay'; readonly of: number; readonly more: bigint; readonly early: boolean }
  | { readonly act: 'payAgain'; readonly of: number }
  | { readonly act: 'wait'; readonly ms: number }
  | { readonly act: 'undo'; readonly depth: number }
  | { readonly act: 'mineAgain'; readonly more: bigint }
  | { readonly act: 'finalize' }

const as = <K extends OrderAct['act']>(act: K) => fc.constant(act)
const some = fc.nat({ max: MOST_ORDERS - 1 })
export const orderActs: fc.Arbitrary<OrderAct> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ act: as('create'), seller: fc.nat({ max: 1 }), buyer: fc.nat({ max: 1 }) }),
  },
  { weight: 14, arbitrary: fc.record({ act: as('onward'), of: some, pick: fc.nat({ max: 9_999 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constantFrom(...PARTY_ACTS),
      of: some,
      share: fc.integer({ min: 1, max: 10_000 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: as('pay'),
      of: some,
      more: fc.constantFrom(0n, 0n, 0n, 1n, 100_001n, -1n),
      early: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: as('payAgain'), of: some }) },
  {
    weight: 4,
    arbitrary: fc.record({ act: as('wait'), ms: fc.constantFrom(3 * SECOND, HOUR, 25 * HOUR, 49 * HOUR) }),
  },
  { weight: 2, arbitrary: fc.record({ act: as('undo'), depth: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ act: as('mineAgain'), more: fc.constantFrom(0n, 0n, 5n) }) },
  { weight: 1, arbitrary: fc.record({ act: as('finalize') }) },
)

/** What may be said to an act that the table allows in this state. */
const CONDITIONS = ['not_late_yet', 'delivered_before', 'revision_included']
const PAYMENT_REFUSALS = ['illegal_transition', 'underpaid', 'transfer_used', 'wrong_payer', 'price_expired']

export interface Made {
  readonly id: OrderId
  readonly seller: Seller
  readonly buyer: TestBuyer
}

const BY_BUYER: readonly string[] = ['accept', 'revision', 'dispute', 'approve', 'cancel']

/** An act is possible for the viewer exactly when the command then accepts it, and otherwise its code is that of the command. */
function expectAsOffered({ problem }: PossibleAct, ended: Order | string): void {
  expect(problem?.code).toBe(typeof ended === 'string' ? ended : undefined)
}

/** Any sequence of what parties, chain and clock do to a few orders, with what the commands must return. */
export class OrderModel {
  readonly made: Made[] = []
  private lastReference = ''

  private readonly fixture: OrderFixture
  private readonly sellers: readonly Seller[]
  private readonly buyers: readonly TestBuyer[]

  constructor(fixture: OrderFixture, sellers: readonly Seller[], buyers: readonly TestBuyer[]) {
    this.fixture = fixture
    this.sellers = sellers
    this.buyers = buyers
  }

  get ids(): OrderId[] {
    return this.made.map(({ id }) => id)
  }

  async step(act: OrderAct): Promise<void> {
    const { fixture } = this
    switch (act.act) {
      case 'create':
        return this.create(act)
      case 'onward':
        return this.goOn(act)
      case 'pay':
        return this.pay(act)
      case 'payAgain': {
        const one = this.made[act.of]
        if (one === undefined || this.lastReference === '') return
        await this.expectPaid(one, this.lastReference)
        return
      }
      case 'wait':
        fixture.clock.advance(act.ms)
        return this.work()
      case 'undo':
        fixture.chain.reorg(act.depth)
        for (let n = 0; n < 3; n++) {
          // Reversed only once the final chain is past it.
          if (n === 1 && act.depth % 2 === 0) fixture.chain.finalize(0)
          fixture.clock.advance(6 * 60 * SECOND)
          await this.work()
        }
        return
      case 'mineAgain':
        return fixture.chain.mineAgain(0, act.more)
      case 'finalize':
        return fixture.chain.finalize(0)
      default:
        return this.act(act)
    }
  }

  /** What two workers do in a round. */
  async work(): Promise<void> {
    const { fixture } = this
    await Promise.all([fixture.recheck(), fixture.finish(), fixture.sweepDue(), fixture.sweepDue()])
  }

  private async create({ seller, buyer }: Extract<OrderAct, { act: 'create' }>): Promise<void> {
    const [from, by] = [this.sellers[seller], this.buyers[buyer]]
    if (from === undefined || by === undefined || this.made.length === MOST_ORDERS) return
    const { id } = await this.fixture.create(from, by)
    this.made.push({ id, seller: from, buyer: by })
  }

  /** Something the table allows now: left to chance alone, few orders would come far. */
  private async goOn({ of, pick }: Extract<OrderAct, { act: 'onward' }>): Promise<void> {
    const one = this.made[of] ?? this.made[0]
    if (one === undefined) return
    const { status } = await this.fixture.read(one.id)
    const open = ['pay' as const, ...PARTY_ACTS].filter((act) => Object.hasOwn(TRANSITIONS[status], act))
    const act = open[pick % Math.max(1, open.length)]
    if (act === undefined) return
    const at = this.made.indexOf(one)
    if (act === 'pay') return this.pay({ act, of: at, more: 0n, early: false })
    await this.act({ act, of: at, share: (pick % 9_999) + 1 })
  }

  private async act({ act, of, share }: Extract<OrderAct, { of: number; share: number }>): Promise<void> {
    const one = this.made[of]
    if (one === undefined) return
    const before = await this.fixture.read(one.id)
    const offers = await this.offersOf(act, one, share)
    const ended = await outcome(this.does(act, one, share))
    if (offers !== undefined) expectAsOffered(offers, ended)
    const to = (TRANSITIONS[before.status] as Partial<Record<Action, Status>>)[act]
    // Without a dispute an arbiter decides only while the payment is contested, which none is here.
    const isUndisputed = (act === 'award' || act === 'reverse') && before.status !== 'disputed'
    if (to === undefined || isUndisputed) return expect(ended).toBe('illegal_transition')
    if (typeof ended === 'string') return expect(CONDITIONS).toContain(ended)
    expect(ended.status).toBe(to)
  }

  /** What the caller of `does` is told about the act; undefined for an arbiter, who is told nothing. */
  private async offersOf(act: (typeof PARTY_ACTS)[number], { id, seller, buyer }: Made, share: number) {
    if (act === 'award' || act === 'reverse') return undefined
    const bySeller = !BY_BUYER.includes(act) || (act === 'cancel' && share % 2 !== 0)
    const offered = await this.fixture.offered(bySeller ? seller.provider : buyer, id, act)
    if (offered === undefined) throw new Error(`${act} is not an act of its own actor`)
    return offered
  }

  private does(act: (typeof PARTY_ACTS)[number], { id, seller, buyer }: Made, share: number): Promise<Order> {
    const { fixture } = this
    const acts: Record<(typeof PARTY_ACTS)[number], () => Promise<Order>> = {
      quote: () => fixture.quote(seller, id, usdc(100_000n + BigInt(share) * 1_001n)),
      accept: () => fixture.accept(buyer, id),
      start: () => fixture.start(seller, id),
      deliver: () => fixture.deliver(seller, id),
      revision: () => fixture.revise(buyer, id),
      decline_revision: () => fixture.decline(seller, id),
      dispute: () => fixture.dispute(buyer, id),
      approve: () => fixture.approve(buyer, id),
      cancel: () => fixture.cancel(share % 2 === 0 ? buyer : seller.provider, id),
      refund: () => fixture.refund(seller, id),
      award: () =>
        fixture.resolve(
          id,
          share === 10_000 ? { outcome: 'release' } : { outcome: 'split', agentShareBps: share },
        ),
      reverse: () => fixture.resolve(id, { outcome: 'refund' }),
    }
    return acts[act]()
  }

  /** A transfer for an order, named when it has arrived or before. */
  private async pay({ of, more, early }: Extract<OrderAct, { act: 'pay' }>): Promise<void> {
    const one = this.made[of]
    if (one === undefined) return
    const { fixture } = this
    const order = await fixture.read(one.id)
    const offers = await fixture.offered(one.buyer, one.id, 'pay')
    const price = 'price' in order && order.price !== undefined ? order.price : PRICE
    const reference = fixture.send(one.buyer.wallet.key, price + more)
    this.lastReference = reference
    if (early) fixture.chain.forcedObservation = { kind: 'pending', reason: 'unconfirmed' }
    try {
      const ended = await this.expectPaid(one, reference)
      // A transfer of the right amount pays exactly when the buyer was told that the order can be paid.
      if (offers?.problem === null && more >= 0n) expect(ended).not.toBe('illegal_transition')
      if (offers?.problem?.code === 'illegal_transition') expect(ended).toBe('illegal_transition')
    } finally {
      fixture.chain.forcedObservation = undefined
    }
  }

  private async expectPaid({ id, buyer }: Made, reference: string): Promise<string | undefined> {
    const ended = await outcome(this.fixture.pay(buyer, id, reference))
    if (typeof ended !== 'string') return undefined
    expect(PAYMENT_REFUSALS).toContain(ended)
    return ended
  }
}
