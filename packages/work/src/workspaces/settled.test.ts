import { DAY } from '@market/kernel/clock'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { applyDueTransitions, countPayers, disputeOrder, findOrder, sharesOf } from '@market/trade/orders'
import { beforeEach, describe, expect, test } from 'vitest'
import { getBalances } from '../earnings/index.ts'
import { answerGeneration } from './answer-generation.ts'
import { failExpiredGenerations } from './fail-expired.ts'
import { generate } from './generate.ts'
import { openWorkspace as openIn } from './test-workspace.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

const openWorkspace = () => openIn(ctx)

type Workspace = Awaited<ReturnType<typeof openWorkspace>>

const request = ({ buyer, id }: Workspace) => generate(ctx, buyer, { orderId: id, prompt: 'A blue square' })

const answer = ({ agent, id }: Workspace, generationId: string, failure?: string) =>
  answerGeneration(ctx, agent, {
    orderId: id,
    generationId,
    answer: failure === undefined ? { item: { type: 'text', content: 'A blue square' } } : { failure },
  })

describe('settled by count', () => {
  /** A workspace in which so many requests were completed, failed and not answered, after its end and its review. */
  async function settled({ completed = 0, failed = 0, silent = 0, byX402 = false }) {
    const workspace = await openWorkspace()
    const { id } = workspace
    const x402 = { payment_method: 'x402', client_wallet: `0x${'a'.repeat(40)}` }
    if (byX402) await ctx.db.updateTable('orders').set(x402).where('id', '=', id).execute()
    for (let n = 0; n < completed; n++) await answer(workspace, (await request(workspace)).generation.id)
    for (let n = 0; n < failed; n++)
      await answer(workspace, (await request(workspace)).generation.id, 'The model is away')
    for (let n = 0; n < silent; n++) await request(workspace)
    ctx.clock.set(workspace.endsAt)
    await applyDueTransitions(ctx)
    await failExpiredGenerations(ctx)
    ctx.clock.advance(3 * DAY)
    await applyDueTransitions(ctx)
    const order = await findOrder(ctx.db, id)
    const rows = await ctx.db
      .selectFrom('payouts')
      .select(['kind', 'amount_micros'])
      .where('subject', '=', id)
      .execute()
    const of = (kind: string) => rows.find((row) => row.kind === kind)?.amount_micros ?? 0n
    if (!('price' in order) || order.price === undefined) throw new Error('it has a price')
    return { order, price: order.price, paid: of('payout'), refunded: of('refund') }
  }

  test.each([
    ['one of three failed', { completed: 2, failed: 1 }, 2n, 3n],
    ['two of seven failed', { completed: 5, failed: 2 }, 5n, 7n],
    ['one was not answered', { completed: 1, silent: 1 }, 1n, 2n],
  ])(
    '%s: the agent gets the completed part, rounded down, and the buyer the rest',
    async (_, made, num, den) => {
      const { order, price, paid, refunded } = await settled(made)
      const part = (price * num) / den
      expect(order).toMatchObject({ status: 'completed', outcome: 'split', agentPart: part })
      expect([paid, refunded]).toEqual([part - part / 10n, price - part])
    },
  )

  test('by x402: the fee is taken off the completed part', async () => {
    const { price, paid, refunded } = await settled({ completed: 1, failed: 3, byX402: true })
    const part = price / 4n
    expect([paid, refunded]).toEqual([(part * 10n) / 11n, price - part])
  })

  test.each([false, true])('everything failed: refunded whole at the end (by x402: %s)', async (byX402) => {
    const { order, price, paid, refunded } = await settled({ failed: 1, silent: 1, byX402 })
    expect(order).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
    expect([paid, refunded]).toEqual([0n, price])
  })

  test.each([
    ['nothing was requested', {}],
    ['nothing failed', { completed: 2 }],
    ['nothing was requested by x402', { byX402: true }],
  ])('%s: the agent gets the whole price', async (_, made) => {
    const { order, refunded } = await settled(made)
    expect(order).toMatchObject({ status: 'completed', outcome: 'released' })
    expect(refunded).toBe(0n)
  })
})

test('a workspace that was settled by count: its payer counts, unless an arbiter decided for the payer in part', async () => {
  const workspace = await openWorkspace()
  const { id, agentId } = workspace
  await answer(workspace, (await request(workspace)).generation.id)
  await answer(workspace, (await request(workspace)).generation.id, 'The model is away')
  ctx.clock.set(workspace.endsAt)
  await applyDueTransitions(ctx)
  ctx.clock.advance(3 * DAY)
  await applyDueTransitions(ctx)
  expect(await findOrder(ctx.db, id)).toMatchObject({ status: 'completed', outcome: 'split' })
  expect(await countPayers(ctx.db, agentId, ctx.clock.now())).toBe(1)
  await ctx.db.updateTable('orders').set({ agent_part_micros: 1n }).where('id', '=', id).execute()
  expect(await countPayers(ctx.db, agentId, ctx.clock.now())).toBe(0)
})

test('balance: a workspace is in escrow with its price while it is open, and by count when it has ended', async () => {
  const workspace = await openWorkspace()
  const inEscrow = async () => (await getBalances(ctx, workspace.agentId))['base-mainnet'].inEscrow
  const whole = await inEscrow()
  expect(whole).toBeGreaterThan(0n)
  for (const failure of [undefined, 'The model is away'])
    await answer(workspace, (await request(workspace)).generation.id, failure)
  expect(await inEscrow()).toBe(whole)
  ctx.clock.set(workspace.endsAt)
  await applyDueTransitions(ctx)
  const order = await findOrder(ctx.db, workspace.id)
  expect(order.status).toBe('delivered')
  expect(await inEscrow()).toBe(whole / 2n)
  expect(await inEscrow()).toBe(sharesOf(order)?.agent)
  await disputeOrder(ctx, workspace.buyer, { orderId: workspace.id, reason: 'Half of it failed.' })
  expect(sharesOf(await findOrder(ctx.db, workspace.id))?.agent).toBe(whole / 2n)
  expect(await inEscrow()).toBe(whole / 2n)
})
