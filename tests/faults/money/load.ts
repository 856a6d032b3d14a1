import type { Network } from '@market/kernel/network'
import { seededRandom } from '../../support/payout-random.ts'
import { isTrueWithin } from '../../support/until.ts'
import { acceptClaim, cancelBounty, isOrdered, postClaimed } from './bounty.ts'
import { depositTransfer, isActive, lendOut, withdrawAll } from './earn.ts'
import type { Environment } from './environment.ts'
import { create, deliver, isDone, isPaid, pay, type RunContext } from './order-actions.ts'
import { dueOf, purchaseByHash, purchaseBySignature, purchaseByTransfer } from './purchase.ts'
import { SCENARIOS, type ScenarioName, scenarioOf } from './scenarios.ts'
import type { Seller } from './sellers.ts'
import type { Buyer, Prepared } from './test-chain.ts'
import type { PaidBy, TestOrder } from './test-order.ts'

export interface LoadSettings {
  readonly seed: number
  readonly orders: number
  readonly abreast: number
  /** Which networks are paid on, in turn. */
  readonly networks: readonly Network[]
  /** How paid orders go on; without it, by dice. */
  readonly scenario?: ScenarioName
  /** The share of orders where another caller pays with the same transfer; 0.25 by default. */
  readonly thieves?: number
  /** The share of orders that programs make by paying; none unless said. */
  readonly purchases?: number
  /** The share of orders that come from a bounty; none unless given. */
  readonly bounties?: number
  /** The share of clients that deposit into Earn instead of ordering; none unless given. */
  readonly earn?: number
  /** Programs name their transfers without a signature. */
  readonly unbound?: boolean
}

export type Load = ReturnType<typeof startLoad>

const PAID_WITHIN_MS = 8_000
const MINED_WITHIN_MS = 3_000
const STRIDE = 100_003
/** Programs come in runs of this many orders, so that they come on every network. */
const PURCHASE_CYCLE = 20
/** Bounties come at other places of a cycle than purchases, and with each cycle on another network. */
const BOUNTY_CYCLE = 10
const BOUNTY_OFFSET = 3
const EARN_CYCLE = 10
const EARN_OFFSET = 6
const EARN_NETWORK = 'base-mainnet'
/** The least first deposit into a pool without shares. */
const LEAST_DEPOSIT = 100_000_000n

interface LoadInput {
  readonly environment: Environment
  readonly context: RunContext
  readonly sellers: readonly Seller[]
  /** One wallet per order, and some for other users. */
  readonly buyers: Readonly<Record<Network, readonly Buyer[]>>
}

const pick = <T>(from: readonly T[], random: () => number): T => {
  const one = from[Math.floor(random() * from.length)]
  if (one === undefined) throw new Error('nothing to choose from')
  return one
}

/** Buyers with orders, each played to its end by dice of its own: the same seed plays the same orders. */
export function startLoad({ environment, context, sellers, buyers }: LoadInput, settings: LoadSettings) {
  const testOrders: TestOrder[] = []
  let next = 0
  let paid = 0
  const leaving: Promise<void>[] = []

  const begin = (
    n: number,
    key: string,
    random: () => number,
    buyer: Buyer,
    { like, paidBy, ...wanted }: { like?: TestOrder; paidBy?: PaidBy; network?: Network } = {},
  ): TestOrder => {
    const seller = like?.seller ?? pick(sellers, random)
    const listing = like?.listing ?? pick(seller.listings, random)
    const network = wanted.network ?? settings.networks[n % settings.networks.length] ?? 'base-mainnet'
    const testOrder: TestOrder = {
      ...{ n, key, buyer, seller, listing, network, random, paidBy },
      orderId: undefined,
      sent: [],
      acknowledged: [],
    }
    testOrders.push(testOrder)
    return testOrder
  }

  /** Presents the same transfer for an order of their own. */
  const steal = async (victim: TestOrder, transfer: Prepared) => {
    const { random } = victim
    const pool = buyers[victim.network]
    const otherUser = pool[pool.length - 1 - Math.floor(random() * 3)] ?? victim.buyer
    const buyer = random() < 0.5 ? victim.buyer : otherUser
    const thief = begin(victim.n, `${victim.key}-thief`, random, buyer, { like: victim })
    if (await create(context, thief)) await pay(context, thief, transfer)
  }

  const send = async (testOrder: TestOrder, amount: bigint, network = testOrder.network) => {
    const to = context.app.treasuries[network]
    const transfer = await testOrder.buyer.prepare(network, to, amount)
    testOrder.sent.push(transfer)
    await transfer.send()
    return transfer
  }

  const partiesOf = (
    n: number,
    network = settings.networks[n % settings.networks.length] ?? 'base-mainnet',
  ) => {
    const buyer = buyers[network][n]
    if (buyer === undefined) throw new Error(`no buyer for order ${n}`)
    return { random: seededRandom(settings.seed * STRIDE + n), buyer }
  }

  const surplusOf = (dice: number, random: () => number): bigint =>
    dice < 0.1 ? BigInt(1 + Math.floor(random() * 500_000)) : 0n

  /** Most buyers name a transfer when it is on the chain, some earlier. */
  const waitUnlessEarly = async (dice: number, { network, reference }: Prepared) => {
    const testChain = environment.testChains[network]
    if (dice > 0.25) await isTrueWithin(MINED_WITHIN_MS, () => testChain.isMined(reference))
  }

  const runOrder = async (n: number) => {
    const { random, buyer } = partiesOf(n)
    const testOrder = begin(n, `${settings.seed}-${n}`, random, buyer)
    const [early, surplus, twice, thief, scenario] = [random(), random(), random(), random(), random()]
    if (!(await create(context, testOrder))) return
    const transfer = await send(testOrder, testOrder.listing.price + surplusOf(surplus, random))
    await waitUnlessEarly(early, transfer)
    const payings: Promise<unknown>[] = [pay(context, testOrder)]
    if (twice < 0.3) payings.push(pay(context, testOrder))
    if (thief < (settings.thieves ?? 0.25)) payings.push(steal(testOrder, transfer))
    const [first] = await Promise.all(payings)
    const isOver = isDone(first as never) && testOrder.acknowledged.some(({ said }) => said === 'paid')
    if (!isOver && !(await isPaid(context, testOrder, PAID_WITHIN_MS))) return
    paid++
    await SCENARIOS[settings.scenario ?? scenarioOf(scenario)][1](context, testOrder)
  }

  /** A program pays with its request; what it gets for it, it never answers. */
  const runPurchase = async (n: number) => {
    const { random, buyer } = partiesOf(n)
    const [how, twice, thief, scenario] = [random(), random(), random(), random()]
    const isUnbound = settings.unbound === true
    const paidBy = isUnbound || how < 0.5 ? 'transfer' : 'signature'
    const testOrder = begin(n, `${settings.seed}-${n}`, random, buyer, { paidBy })
    if (paidBy === 'signature') {
      if (!(await purchaseBySignature(context, testOrder, twice < 0.3))) return
    } else {
      const transfer = await send(testOrder, dueOf(testOrder.listing.price))
      const buy = isUnbound ? purchaseByHash : purchaseByTransfer
      const purchases = [buy(context, testOrder, transfer)]
      if (twice < 0.3) purchases.push(buy(context, testOrder, transfer))
      if (thief < 0.25 && !isUnbound) {
        const like = begin(n, `${testOrder.key}-thief`, random, buyer, { like: testOrder, paidBy })
        purchases.push(purchaseByHash(context, like, transfer))
      }
      if (!(await Promise.all(purchases))[0]) return
    }
    paid++
    if (scenario < 0.7) await deliver(context, testOrder)
  }

  /** Accepts the second claim too, with a transfer on another network where the wallet has one: one of both is refunded. */
  const acceptSecond = async (testOrder: TestOrder) => {
    const [, second] = testOrder.bounty?.claims ?? []
    if (second === undefined) return
    const network = testOrder.buyer.networks.find((one) => one !== testOrder.network)
    const transfer = await send(testOrder, dueOf(testOrder.listing.price), network)
    await acceptClaim(context, testOrder, second, transfer)
  }

  /** The buyer posts a bounty, agents claim it, and a transfer accepts a claim. Then the order continues like any other. */
  const runBounty = async (n: number) => {
    const { random, buyer } = partiesOf(n)
    const [early, surplus, twice, thief, rival] = [random(), random(), random(), random(), random()]
    const [cancelled, scenario] = [random(), random()]
    const testOrder = begin(n, `${settings.seed}-${n}`, random, buyer, { paidBy: 'bounty' })
    const other = pick(
      sellers.filter((seller) => seller !== testOrder.seller),
      random,
    )
    const bounty = await postClaimed(context, testOrder, [testOrder.seller, other])
    const [claim] = bounty?.claims ?? []
    if (claim === undefined) return
    const due = dueOf(testOrder.listing.price)
    const transfer = await send(testOrder, due + surplusOf(surplus, random))
    await waitUnlessEarly(early, transfer)
    const requests: Promise<unknown>[] = [acceptClaim(context, testOrder, claim, transfer)]
    if (twice < 0.3) requests.push(acceptClaim(context, testOrder, claim, transfer))
    if (thief < (settings.thieves ?? 0.25)) requests.push(steal(testOrder, transfer))
    if (rival < 0.4) requests.push(acceptSecond(testOrder))
    if (cancelled < 0.1) requests.push(cancelBounty(context, testOrder))
    await Promise.all(requests)
    if (!(await isOrdered(context, testOrder))) return
    paid++
    await SCENARIOS[settings.scenario ?? scenarioOf(scenario)][1](context, testOrder)
  }

  /** Deposits into Earn. What follows takes longer than an order, so the next client does not wait for it. */
  const runEarn = async (n: number) => {
    const { random, buyer } = partiesOf(n, EARN_NETWORK)
    const [early, surplus, twice, thief] = [random(), random(), random(), random()]
    const [leaves, lent] = [random(), random()]
    const testOrder = begin(n, `${settings.seed}-${n}`, random, buyer, { network: EARN_NETWORK })
    const amount = LEAST_DEPOSIT + BigInt(Math.floor(random() * 50_000_000))
    testOrder.deposit = { amount, hasLeftEarly: false }
    const transfer = await send(testOrder, amount + surplusOf(surplus, random))
    await waitUnlessEarly(early, transfer)
    const requests: Promise<unknown>[] = [depositTransfer(context, testOrder, transfer)]
    if (twice < 0.3) requests.push(depositTransfer(context, testOrder, transfer))
    if (thief < (settings.thieves ?? 0.25)) requests.push(steal(testOrder, transfer))
    await Promise.all(requests)
    paid++
    const leave = async () => {
      if (leaves > 0.6 || !(await isActive(context, testOrder))) return
      if (lent < 0.5) await lendOut(environment)
      await withdrawAll(context, testOrder, { isEarly: true })
    }
    leaving.push(leave())
  }

  const runnerOf = (n: number) => {
    if (n % PURCHASE_CYCLE < (settings.purchases ?? 0) * PURCHASE_CYCLE) return runPurchase
    if ((n + EARN_OFFSET) % EARN_CYCLE < (settings.earn ?? 0) * EARN_CYCLE) return runEarn
    const isBounty = (n + BOUNTY_OFFSET) % BOUNTY_CYCLE < (settings.bounties ?? 0) * BOUNTY_CYCLE
    return isBounty ? runBounty : runOrder
  }

  const one = async () => {
    while (next < settings.orders) {
      const n = next++
      await runnerOf(n)(n)
    }
  }
  const done = Promise.all(Array.from({ length: settings.abreast }, one)).then(() => Promise.all(leaving))
  return {
    testOrders,
    done,
    paid: () => paid,
    begun: () => next,
    /** What left a wallet on a network and is not on the chain any more. */
    async vanished(network: Network): Promise<{ testOrder: TestOrder; transfer: Prepared }[]> {
      const sent = testOrders.flatMap((testOrder) =>
        testOrder.sent.map((transfer) => ({ testOrder, transfer })),
      )
      const ofNetwork = sent.filter(({ transfer }) => transfer.network === network)
      const there = await Promise.all(
        ofNetwork.map(({ transfer }) => environment.testChains[network].isMined(transfer.reference)),
      )
      return ofNetwork.filter((_, index) => there[index] === false)
    },
  }
}
