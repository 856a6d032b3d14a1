import type { Network } from '@market/kernel/network'
import { seededRandom } from '../../support/payout-random.ts'
import { until } from '../../support/until.ts'
import { ENDINGS, type EndingName, endingOf } from './endings.ts'
import type { Ground } from './ground.ts'
import { dueOf, hireBySignature, hireByTheft, hireByTransfer } from './hire.ts'
import { create, deliver, isDone, isPaid, pay, type Stage } from './plays.ts'
import type { Seller } from './sellers.ts'
import type { Buyer, Prepared } from './side.ts'
import type { HiredBy, Story } from './story.ts'

export interface LoadSettings {
  readonly seed: number
  readonly orders: number
  readonly abreast: number
  /** Which networks are paid on, in turn. */
  readonly networks: readonly Network[]
  /** How paid orders go on; without it, by dice. */
  readonly ending?: EndingName
  /** Whether anybody tries to pay twice or with another's transfer; without it, by dice. */
  readonly thieves?: number
  /** The share of orders that programs make by paying; none unless said. */
  readonly purchases?: number
}

export type Load = ReturnType<typeof startLoad>

const PAID_WITHIN_MS = 8_000
const MINED_WITHIN_MS = 3_000
const STRIDE = 100_003
/** Programs come in runs of this many orders, so that they come on every network. */
const HIRES_EVERY = 20

interface Cast {
  readonly ground: Ground
  readonly stage: Stage
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
export function startLoad({ ground, stage, sellers, buyers }: Cast, settings: LoadSettings) {
  const stories: Story[] = []
  let next = 0
  let paid = 0

  const begin = (
    n: number,
    key: string,
    random: () => number,
    buyer: Buyer,
    { like, hiredBy }: { like?: Story; hiredBy?: HiredBy } = {},
  ): Story => {
    const seller = like?.seller ?? pick(sellers, random)
    const listing = like?.listing ?? pick(seller.listings, random)
    const network = settings.networks[n % settings.networks.length] ?? 'base-mainnet'
    const story: Story = {
      ...{ n, key, buyer, seller, listing, network, random, hiredBy },
      orderId: undefined,
      sent: [],
      acknowledged: [],
    }
    stories.push(story)
    return story
  }

  /** Presents the same transfer for an order of their own. */
  const steal = async (victim: Story, transfer: Prepared) => {
    const { random } = victim
    const pool = buyers[victim.network]
    const otherUser = pool[pool.length - 1 - Math.floor(random() * 3)] ?? victim.buyer
    const buyer = random() < 0.5 ? victim.buyer : otherUser
    const thief = begin(victim.n, `${victim.key}-thief`, random, buyer, { like: victim })
    if (await create(stage, thief)) await pay(stage, thief, transfer)
  }

  const send = async (story: Story, amount: bigint) => {
    const to = stage.app.treasuries[story.network]
    const transfer = await story.buyer.prepare(story.network, to, amount)
    story.sent.push(transfer)
    await transfer.send()
    return transfer
  }

  const play = async (n: number) => {
    const random = seededRandom(settings.seed * STRIDE + n)
    const network = settings.networks[n % settings.networks.length] ?? 'base-mainnet'
    const buyer = buyers[network][n]
    if (buyer === undefined) throw new Error(`no buyer for order ${n}`)
    const story = begin(n, `${settings.seed}-${n}`, random, buyer)
    const [early, surplus, twice, thief, ending] = [random(), random(), random(), random(), random()]
    if (!(await create(stage, story))) return
    const more = surplus < 0.1 ? BigInt(1 + Math.floor(random() * 500_000)) : 0n
    const transfer = await send(story, story.listing.price + more)
    const side = ground.sides[story.network]
    if (early > 0.25)
      await until('the transfer is mined', () => side.isThere(transfer.reference), {
        withinMs: MINED_WITHIN_MS,
      }).catch(() => undefined)
    const payings: Promise<unknown>[] = [pay(stage, story)]
    if (twice < 0.3) payings.push(pay(stage, story))
    if (thief < (settings.thieves ?? 0.25)) payings.push(steal(story, transfer))
    const [first] = await Promise.all(payings)
    const isOver = isDone(first as never) && story.acknowledged.some(({ said }) => said === 'paid')
    if (!isOver && !(await isPaid(stage, story, PAID_WITHIN_MS))) return
    paid++
    await ENDINGS[settings.ending ?? endingOf(ending)][1](stage, story)
  }

  /** A program pays with its request; what it gets for it, it never answers. */
  const playHire = async (n: number) => {
    const random = seededRandom(settings.seed * STRIDE + n)
    const network = settings.networks[n % settings.networks.length] ?? 'base-mainnet'
    const buyer = buyers[network][n]
    if (buyer === undefined) throw new Error(`no buyer for order ${n}`)
    const [how, twice, thief, ending] = [random(), random(), random(), random()]
    const hiredBy = how < 0.5 ? 'transfer' : 'signature'
    const story = begin(n, `${settings.seed}-${n}`, random, buyer, { hiredBy })
    if (hiredBy === 'signature') {
      if (!(await hireBySignature(stage, story, twice < 0.3))) return
    } else {
      const transfer = await send(story, dueOf(story.listing.price))
      const hirings = [hireByTransfer(stage, story, transfer)]
      if (twice < 0.3) hirings.push(hireByTransfer(stage, story, transfer))
      if (thief < 0.25) {
        const like = begin(n, `${story.key}-thief`, random, buyer, { like: story, hiredBy })
        hirings.push(hireByTheft(stage, like, transfer))
      }
      if (!(await Promise.all(hirings))[0]) return
    }
    paid++
    if (ending < 0.7) await deliver(stage, story)
  }

  const one = async () => {
    while (next < settings.orders) {
      const n = next++
      await (n % HIRES_EVERY < (settings.purchases ?? 0) * HIRES_EVERY ? playHire(n) : play(n))
    }
  }
  const done = Promise.all(Array.from({ length: settings.abreast }, one))
  return {
    stories,
    done,
    paid: () => paid,
    begun: () => next,
    /** What left a wallet on a network and is not on the chain any more. */
    async vanished(network: Network): Promise<{ story: Story; transfer: Prepared }[]> {
      const sent = stories.flatMap((story) => story.sent.map((transfer) => ({ story, transfer })))
      const ofNetwork = sent.filter(({ transfer }) => transfer.network === network)
      const there = await Promise.all(
        ofNetwork.map(({ transfer }) => ground.sides[network].isThere(transfer.reference)),
      )
      return ofNetwork.filter((_, index) => there[index] === false)
    },
  }
}
