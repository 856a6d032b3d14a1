import { HOUR, SECOND } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { type Action, type Order, type Status, TRANSITIONS } from '@market/trade/orders'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { outcome } from '../payments/till.ts'
import {
  newBuyer,
  type OrderBooks,
  openOrderBooks,
  type PaperBuyer,
  PRICE,
  type Shop,
} from './order-books.ts'

const HISTORIES = Number(process.env['ORDER_HISTORIES'] ?? 120)
const SEED = Number(process.env['ORDER_SEED'] ?? 1)
const PARALLEL = 4
const LONGEST = 12
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

type Act =
  | { readonly act: 'create'; readonly shop: number; readonly buyer: number }
  | { readonly act: (typeof PARTY_ACTS)[number]; readonly of: number; readonly share: number }
  | { readonly act: 'onward'; readonly of: number; readonly pick: number }
  | { readonly act: 'pay'; readonly of: number; readonly more: bigint; readonly early: boolean }
  | { readonly act: 'payAgain'; readonly of: number }
  | { readonly act: 'wait'; readonly ms: number }
  | { readonly act: 'undo'; readonly depth: number }
  | { readonly act: 'mineAgain'; readonly more: bigint }
  | { readonly act: 'finalize' }

const as = <K extends Act['act']>(act: K) => fc.constant(act)
const some = fc.nat({ max: MOST_ORDERS - 1 })
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ act: as('create'), shop: fc.nat({ max: 1 }), buyer: fc.nat({ max: 1 }) }),
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

interface Made {
  readonly id: OrderId
  readonly shop: Shop
  readonly buyer: PaperBuyer
}

class Story {
  private readonly made: Made[] = []
  private lastReference = ''

  private readonly books: OrderBooks
  private readonly shops: readonly Shop[]
  private readonly buyers: readonly PaperBuyer[]

  constructor(books: OrderBooks, shops: readonly Shop[], buyers: readonly PaperBuyer[]) {
    this.books = books
    this.shops = shops
    this.buyers = buyers
  }

  get ids(): OrderId[] {
    return this.made.map(({ id }) => id)
  }

  async step(act: Act): Promise<void> {
    const { books } = this
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
        return this.expectPaid(one, this.lastReference)
      }
      case 'wait':
        books.clock.advance(act.ms)
        return this.work()
      case 'undo':
        books.chain.reorg(act.depth)
        for (let n = 0; n < 3; n++) {
          books.clock.advance(6 * 60 * SECOND)
          await this.work()
        }
        return
      case 'mineAgain':
        return books.chain.mineAgain(0, act.more)
      case 'finalize':
        return books.chain.finalize(0)
      default:
        return this.act(act)
    }
  }

  /** What two workers do in a round. */
  async work(): Promise<void> {
    const { books } = this
    await Promise.all([books.recheck(), books.finish(), books.sweepDue(), books.sweepDue()])
  }

  private async create({ shop, buyer }: Extract<Act, { act: 'create' }>): Promise<void> {
    const [from, by] = [this.shops[shop], this.buyers[buyer]]
    if (from === undefined || by === undefined || this.made.length === MOST_ORDERS) return
    const { id } = await this.books.create(from, by)
    this.made.push({ id, shop: from, buyer: by })
  }

  /** Something the table allows now: left to chance alone, few orders would come far. */
  private async goOn({ of, pick }: Extract<Act, { act: 'onward' }>): Promise<void> {
    const one = this.made[of] ?? this.made[0]
    if (one === undefined) return
    const { status } = await this.books.read(one.id)
    const open = ['pay' as const, ...PARTY_ACTS].filter((act) => Object.hasOwn(TRANSITIONS[status], act))
    const act = open[pick % Math.max(1, open.length)]
    if (act === undefined) return
    const at = this.made.indexOf(one)
    if (act === 'pay') return this.pay({ act, of: at, more: 0n, early: false })
    await this.act({ act, of: at, share: (pick % 9_999) + 1 })
  }

  private async act({ act, of, share }: Extract<Act, { of: number; share: number }>): Promise<void> {
    const one = this.made[of]
    if (one === undefined) return
    const before = await this.books.read(one.id)
    const ended = await outcome(this.does(act, one, share))
    const to = (TRANSITIONS[before.status] as Partial<Record<Action, Status>>)[act]
    if (to === undefined) return expect(ended).toBe('illegal_transition')
    if (typeof ended === 'string') return expect(CONDITIONS).toContain(ended)
    expect(ended.status).toBe(to)
  }

  private does(act: (typeof PARTY_ACTS)[number], { id, shop, buyer }: Made, share: number): Promise<Order> {
    const { books } = this
    const acts: Record<(typeof PARTY_ACTS)[number], () => Promise<Order>> = {
      quote: () => books.quote(shop, id, usdc(BigInt(share) * 1_001n)),
      accept: () => books.accept(buyer, id),
      start: () => books.start(shop, id),
      deliver: () => books.deliver(shop, id),
      revision: () => books.revise(buyer, id),
      decline_revision: () => books.decline(shop, id),
      dispute: () => books.dispute(buyer, id),
      approve: () => books.approve(buyer, id),
      cancel: () => books.cancel(share % 2 === 0 ? buyer : shop.provider, id),
      refund: () => books.refund(shop, id),
      award: () =>
        books.resolve(
          id,
          share === 10_000 ? { outcome: 'release' } : { outcome: 'split', agentShareBps: share },
        ),
      reverse: () => books.resolve(id, { outcome: 'refund' }),
    }
    return acts[act]()
  }

  /** A transfer for an order, named when it has arrived or before. */
  private async pay({ of, more, early }: Extract<Act, { act: 'pay' }>): Promise<void> {
    const one = this.made[of]
    if (one === undefined) return
    const { books } = this
    const order = await books.read(one.id)
    const price = 'price' in order && order.price !== undefined ? order.price : PRICE
    const reference = books.send(one.buyer.wallet, price + more)
    this.lastReference = reference
    if (early) books.chain.lie = { kind: 'pending', reason: 'unconfirmed' }
    try {
      await this.expectPaid(one, reference)
    } finally {
      books.chain.lie = undefined
    }
  }

  private async expectPaid({ id, buyer }: Made, reference: string): Promise<void> {
    const ended = await outcome(this.books.pay(buyer, id, reference))
    if (typeof ended === 'string') expect(PAYMENT_REFUSALS).toContain(ended)
  }
}

test('orders: for any sequence of actions, deadlines and reorganizations escrow matches the order states and the ledger sums to zero', {
  timeout: 60_000 + HISTORIES * 2_000,
}, async () => {
  const reached = new Set<Status>()
  const runOne = async (_: unknown, n: number) => {
    const books = await openOrderBooks()
    try {
      const shops = [
        await books.openShop({ turnaroundHours: 1, maxRevisions: 1 }),
        await books.openShop({ priceType: 'quote', price: null, turnaroundHours: 24, maxRevisions: 0 }),
      ]
      await fc.assert(
        fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: LONGEST }), async (history) => {
          const story = new Story(books, shops, [newBuyer(), newBuyer()])
          await story.step({ act: 'create', shop: history.length % 2, buyer: 0 })
          for (const act of history) {
            await story.step(act)
            for (const { status } of await books.expectWhole(story.ids)) reached.add(status)
          }
          await books.expectReachable(story.ids)
        }),
        { numRuns: Math.ceil(HISTORIES / PARALLEL), seed: SEED + n },
      )
      await books.watch()
      await books.expectBalanced()
    } finally {
      await books.stop()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOne))
  expect([...reached].toSorted()).toEqual(Object.keys(TRANSITIONS).toSorted())
})
