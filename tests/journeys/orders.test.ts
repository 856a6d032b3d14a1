import { NETWORKS } from '@market/kernel/network'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type JourneyWorld, PRICE, startJourneys } from './order-journeys.ts'

const HOUR = 3_600_000
/** Under load the worker and three chains share the machine with other tests. */
const ROOM = 300_000

let world: JourneyWorld
beforeAll(async () => {
  world = await startJourneys()
}, ROOM)
afterAll(() => world?.stop(), ROOM)

const TENTH = PRICE / 10n

describe.concurrent('within all deadlines', { timeout: ROOM }, () => {
  test.each(NETWORKS)(
    'fixed price: paid on %s, and the agent receives 90 % on the same network',
    async (network) => {
      const order = await world.begin(network)
      expect(order.firstState).toBe('quoted')
      await order.pay()
      await order.balanced('0.00', '22.50', '0.00')
      await order.deliver()
      await order.byBuyer('approve')
      await order.earned(PRICE - TENTH)
      await order.spent(PRICE)
      await order.balanced('0.00', '0.00', '22.50')
      const { heard, bodies } = await order.told('order.created', 'order.paid', 'order.completed')
      expect(heard).toEqual(['order.created', 'order.paid', 'order.completed'])
      expect(bodies).toMatchObject([
        { order_id: order.id, data: { brief: expect.any(String), status: 'quoted' } },
        { order_id: order.id, data: { status: 'paid' } },
        { order_id: order.id, data: { payout_failed: false } },
      ])
    },
  )

  test('quote: requested, quoted, accepted and paid, and the surplus is refunded', async () => {
    const order = await world.begin('base-mainnet', { price_type: 'quote', price_usd: undefined })
    expect(order.firstState).toBe('pending_quote')
    await order.quote('40.000001')
    await order.byBuyer('accept')
    await order.pay(40_500_000n)
    await order.bySeller('start')
    await order.deliver()
    await order.byBuyer('approve')
    await order.earned(36_000_001n)
    await order.spent(40_000_001n)
    const { ofBuyer } = await order.receipts()
    expect(ofBuyer.amounts).toEqual({
      paid_usd: '40.50',
      price_usd: '40.000001',
      surplus_usd: '0.499999',
      agent_usd: '36.000001',
      fee_usd: '4.00',
      refund_usd: '0.00',
    })
    expect(ofBuyer.transfers.map(({ kind, amount_usd }) => [kind, amount_usd])).toEqual([
      ['payment', '40.50'],
      ['payout', '36.000001'],
      ['surplus', '0.499999'],
    ])
  })

  test('revision: requested and delivered; a further one is declined', async () => {
    const order = await world.begin('alt-mainnet', { max_revisions: 1 })
    await order.pay()
    await order.deliver()
    await order.byBuyer('revision', { feedback: 'More blue' })
    await order.deliver()
    await order.byBuyer('revision', { feedback: 'Still more blue' })
    const declined = await order.bySeller('decline_revision')
    expect(declined.body.data).toMatchObject({ status: 'delivered', revision_count: 2 })
    await order.byBuyer('approve')
    await order.earned(PRICE - TENTH)
    const { bodies } = await order.told(...Array.from({ length: 5 }, () => 'any'))
    const asked = bodies.filter(({ event }) => event === 'order.revision_requested')
    expect(asked.map(({ data }) => [data.feedback, data.revision_count, data.is_extra])).toEqual([
      ['More blue', 1, false],
      ['Still more blue', 2, true],
    ])
  })

  test('dispute: split in half, and both parties are paid on chain', async () => {
    const order = await world.begin('base-mainnet')
    await order.pay()
    await order.deliver()
    await order.byBuyer('dispute', { reason: 'It is not blue' })
    await world.resolve(order.id, { outcome: 'split', agent_share_bps: 5_000 })
    await order.earned(PRICE / 2n - TENTH / 2n)
    await order.spent(PRICE / 2n)
    const { ofBuyer, ofAgent } = await order.receipts()
    expect(ofAgent.order).toMatchObject({ status: 'completed', outcome: 'split' })
    expect(ofAgent.amounts).toMatchObject({
      ...{ paid_usd: '25.00', price_usd: '25.00', surplus_usd: '0.00' },
      ...{ agent_usd: '11.25', fee_usd: '1.25', refund_usd: '12.50' },
    })
    const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/)
    expect(ofAgent.transfers).toMatchObject([
      { direction: 'in', kind: 'payment', amount_usd: '25.00', wallet: order.buyer.address, tx_hash: hash },
      {
        ...{ direction: 'out', kind: 'payout', amount_usd: '11.25', tx_hash: hash },
        wallet: order.seller.owner.address,
      },
      { direction: 'out', kind: 'refund', amount_usd: '12.50', wallet: order.buyer.address, tx_hash: hash },
    ])
    // The buyer reads that the agent is paid, not how.
    expect(ofBuyer.transfers[1]).toMatchObject({ kind: 'payout', wallet: null, tx_hash: null })
    const { heard } = await order.told('order.created', 'order.paid', 'order.disputed', 'order.completed')
    expect(heard).toEqual(['order.created', 'order.paid', 'order.disputed', 'order.completed'])
  })

  test('cancel: a paid order is refunded in full', async () => {
    const order = await world.begin('solana-mainnet')
    await order.pay()
    await order.byBuyer('cancel')
    await order.spent(0n)
    const { bodies } = await order.told('order.created', 'order.paid', 'order.cancelled')
    expect(bodies.at(-1)).toMatchObject({ event: 'order.cancelled', data: { previous_status: 'paid' } })
    await order.refunded()
    await order.balanced('0.00', '0.00', '0.00')
    const { ofBuyer } = await order.receipts()
    expect(ofBuyer).toMatchObject({
      order: { status: 'cancelled', outcome: 'refunded', delivered_at: null },
      amounts: { price_usd: '25.00', agent_usd: '0.00', fee_usd: '0.00', refund_usd: '25.00' },
      transfers: [
        { kind: 'payment', network: 'solana-mainnet', wallet: order.buyer.address },
        { kind: 'refund', network: 'solana-mainnet', wallet: order.buyer.address, amount_usd: '25.00' },
      ],
      deliverables: [],
    })
    expect((await order.read()).refund).toMatchObject({
      status: 'sent',
      amount_usd: '25.00',
      tx_hash: expect.any(String),
    })
  })
})

test('deadlines: an undelivered order is refunded, and an unreviewed delivery is paid', {
  timeout: ROOM,
}, async () => {
  const [late, silent] = await Promise.all([
    world.begin('base-mainnet', { turnaround_hours: 1 }),
    world.begin('alt-mainnet'),
  ])
  await Promise.all([late.pay(), silent.pay()])
  await silent.deliver()
  await world.market.advance(25 * HOUR)
  await late.reached('cancelled')
  await late.spent(0n)
  expect((await silent.read()).order.status).toBe('delivered')
  await world.market.advance(23 * HOUR)
  await silent.reached('completed')
  await silent.earned(PRICE - TENTH)
  await silent.spent(PRICE)
})
