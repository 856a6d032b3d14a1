import { randomBytes } from 'node:crypto'
import { idSource } from '@market/kernel/ids'
import { testClock } from '@market/testing/clock'
import { sql } from 'kysely'
import { makeOwnedAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { makeOrderIn } from '../support/order-in-state.ts'
import { makeService } from '../support/services.ts'

/** A marketplace with enough in it to compare its pages with their design. Texts and figures are samples. */

type Offer = readonly [
  agent: string,
  category: string,
  title: string,
  description: string,
  price: string | null,
  completed: number,
  stars: number,
  reviews: number,
  turnaround: number,
]

const OFFERS: readonly Offer[] = [
  [
    'Text Analyst',
    'analytics',
    'Statistics of a text',
    'I count the words and sentences of your brief and estimate its reading time. Delivered at once.',
    '0.50',
    5_318,
    4.9,
    61,
    1,
  ],
  [
    'Page Auditor',
    'seo',
    'Audit of one web page',
    'I check one web page for missing titles, broken links and slow images, and list what to change.',
    '5.00',
    1_204,
    4.7,
    403,
    1,
  ],
  [
    'Pixel Smith',
    'image_gen',
    'Logo for a shop',
    'A logo as SVG and PNG, in two variants, with the sources. I draw by hand on a grid of pixels.',
    '25.00',
    212,
    4.9,
    184,
    24,
  ],
  [
    'Typescript Reviewer',
    'coding',
    'Review of one pull request',
    'I read one pull request in TypeScript and list what could break, with the reason for each.',
    '20.00',
    131,
    4.8,
    96,
    2,
  ],
  [
    'Studio Fold',
    'image_gen',
    'Product pictures for a shop',
    'Send one photograph of each product, and get five clean pictures of it on plain ground.',
    '12.00',
    77,
    4.6,
    58,
    6,
  ],
  [
    'Changelog Writer',
    'coding',
    'Changelog of one release',
    'I turn the commits since your last release into a changelog that users of your product can read.',
    '8.00',
    63,
    4.8,
    44,
    1,
  ],
  [
    'Quill and Co',
    'brand_content',
    'Launch thread in your voice',
    'Eight posts for a launch, written from three links that you send and your last fifty posts.',
    '9.00',
    52,
    4.4,
    37,
    6,
  ],
  [
    'Falcon',
    'automation',
    'Migrate a Zapier workflow to code',
    'You export the workflow, I write a tested TypeScript service that does the same, with a readme.',
    null,
    14,
    5,
    12,
    120,
  ],
  [
    'Redline',
    'consulting',
    'Threat model of an API',
    'I read your OpenAPI file and answer twelve questions about it, then list the ten worst risks.',
    '60.00',
    3,
    4.5,
    2,
    48,
  ],
]

/** Twelve per cent of what is held is not owed. */
const RESERVES = [
  ['base-mainnet', 98_402_100_000n, 93_310_440_000n],
  ['solana-mainnet', 31_087_620_000n, 29_561_660_000n],
  ['alt-mainnet', 8_450_500_000n, 8_000_000_000n],
] as const
const DAYS = 60
const DAY_MS = 86_400_000

export async function fillWithSamples(market: Market): Promise<void> {
  for (const [name, category, title, description, price, completed, average, reviews, hours] of OFFERS) {
    const agent = await makeOwnedAgent(market, { name, description, capabilities: [category] })
    const service = await makeService(market, agent, {
      ...{ category, title, description, turnaround_hours: hours },
      ...(price === null ? { price_type: 'quote', price_usd: undefined } : { price_usd: price }),
      deliverables: ['The result as a file', 'What was done, in one page'],
      requirement_fields: [{ label: 'What is it for?', type: 'text', required: false }],
    })
    if (price !== null) {
      const { id, sign } = await makeOrderIn(market, service, 'completed')
      const headers = await sign(`orders.review:${id}`)
      const body = { rating: 5, comment: 'Usable at the first try, and two hours before it was due.' }
      await market.client().post(`/api/orders/${id}/review`, body, { headers })
    }
    const five = Math.round(reviews * (average - 4 > 0 ? average - 4 : 0))
    await sql`update listings set total_orders = ${completed}, completed_orders = ${completed},
      completed_buyers = ${completed}, rating_count = ${reviews}, rating_sum = ${Math.round(reviews * average)},
      stars = array[0, 0, 0, ${reviews - five}::int, ${five}::int] where id = ${service.id}`.execute(
      market.db,
    )
  }
  await sql`update statistics set value = 912050000000 where name = 'completed_micros'`.execute(market.db)
  await sql`update statistics set value = 7074 where name = 'orders_completed'`.execute(market.db)
  await sql`update statistics set value = 114 where name = 'orders_cancelled'`.execute(market.db)
  await fillReserves(market)
}

async function fillReserves({ db }: Market): Promise<void> {
  const ids = idSource(testClock(new Date()))
  for (let before = DAYS; before >= 0; before--) {
    const at = new Date(Date.now() - before * DAY_MS)
    const day = at.toISOString().slice(0, 10)
    const share = BigInt(100 - before + (before % 7))
    const trees: object[] = []
    for (const [network, most, due] of RESERVES) {
      const [held, owed] = [(most * share) / 100n, (due * share) / 100n]
      const id = ids.next('rsv')
      const root = randomBytes(32).toString('hex')
      await db
        .insertInto('reserve_snapshots')
        .values({
          ...{ id, network, taken_at: at, treasury: `0x${'5e'.repeat(20)}` },
          ...{ final_micros: held, latest_micros: held, ledger_micros: held, in_flight_micros: 0n },
          ...{ in_flight: '[]', in_flight_count: 0, venues_micros: 0n, earn_micros: 0n, unfinal_micros: 0n },
          ...{ escrow_micros: owed, payable_micros: 0n, surplus_micros: 0n, suspense_micros: 0n },
          ...{ fees_micros: held - owed, short_micros: 0n, root, leaf_count: 1_284, groups: '[]', day },
        })
        .execute()
      trees.push({ network, kind: 'liabilities', snapshotId: id, root, micros: String(owed) })
    }
    if (before === 0 || before > 14) continue
    const reference = randomBytes(32).toString('hex')
    const text = `market.reserves.v1 ${day} ${reference}`
    await db
      .insertInto('reserve_anchors')
      .values({
        day,
        text,
        trees: JSON.stringify(trees),
        due_at: at,
        created_at: at,
        ...{ network: 'solana-mainnet', account: 'TreasuryOnSolana', reference, final_at: at },
      })
      .execute()
  }
}
