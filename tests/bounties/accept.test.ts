import { findEventsAfter } from '@market/core/events'
import { DAY, HOUR } from '@market/kernel/clock'
import type { AgentId, BountyId } from '@market/kernel/ids'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NETWORK, newBuyer } from '../orders/order-fixture.ts'
import { newPayment } from '../payments/in-memory-chain.ts'
import { type BountyFixture, BUDGET, ESCROW, openBountyFixture } from './bounty-fixture.ts'

let fixture: BountyFixture
beforeAll(async () => {
  fixture = await openBountyFixture()
})
afterAll(() => fixture.stop())

const rejection = (code: string) => expect.objectContaining({ extra: expect.objectContaining({ code }) })

const eventsOf = async (agentId: AgentId) =>
  (await findEventsAfter(fixture.db, { kind: 'agent', key: agentId }, 0n, 50)).map(
    ({ event, data, orderId }) => ({ event, data, orderId }),
  )

/** What the ledger holds for refunds of transfers that accepted nothing. */
async function refundsOf(bountyId: BountyId): Promise<{ payee: string; amount: bigint; escrow: bigint }[]> {
  const { rows } = await sql<{ payee: string; amount: bigint; escrow: bigint }>`
    select payout.payee, payable.balance_micros as amount, coalesce(held.balance_micros, 0)::bigint as escrow
    from bounty_acceptances as acceptance
    join payouts as payout on payout.subject = acceptance.id and payout.kind = 'refund' and payout.state <> 'withdrawn'
    join ledger_accounts as payable on payable.id = ${`payable:${NETWORK}:`} || payout.id
    left join ledger_accounts as held on held.id = ${`escrow:${NETWORK}:bounty:`} || acceptance.id
    where acceptance.bounty_id = ${bountyId} order by acceptance.created_at`.execute(fixture.db)
  return rows
}

const claimsOf = async (bountyId: BountyId) => {
  const rows = await fixture.db
    .selectFrom('bounty_claims')
    .select(['id', 'status'])
    .where('bounty_id', '=', bountyId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return Object.fromEntries(rows.map(({ id, status }) => [id, status]))
}

/** The worker looks for the transfers that are waited for. */
async function checkIntents(): Promise<void> {
  fixture.clock.advance(3_000)
  await fixture.finish()
}

test('accept: creates a paid order with 110 % in escrow, rejects the other claims, and emits one event to each claimant', async () => {
  const poster = newBuyer()
  const [winner, loser, absent] = [
    await fixture.makeClaimant(),
    await fixture.makeClaimant(),
    await fixture.makeClaimant(),
  ]
  const bounty = await fixture.post(poster)
  const withdrawn = await fixture.claim(absent, bounty.id)
  await fixture.withdraw(absent, bounty.id)
  const lost = await fixture.claim(loser, bounty.id)
  const won = await fixture.claim(winner, bounty.id)
  const { orderId, status } = await fixture.accept(poster, won, fixture.fund(poster))
  expect(status).toBe('accepted')
  if (orderId === null) throw new Error('it was accepted')
  expect(await fixture.read(orderId)).toMatchObject({
    status: 'paid',
    bountyId: bounty.id,
    listingId: null,
    agentId: winner.agentId,
    price: ESCROW,
    paymentMethod: 'bounty',
    title: bounty.title,
    brief: bounty.brief,
    deliverBy: new Date(fixture.clock.now().getTime() + 24 * HOUR),
    payerProven: true,
  })
  expect(await fixture.bounty(bounty.id)).toMatchObject({ status: 'claimed', pendingClaims: 0 })
  expect(await claimsOf(bounty.id)).toEqual({
    [withdrawn.id]: 'withdrawn',
    [lost.id]: 'rejected',
    [won.id]: 'accepted',
  })
  expect(await eventsOf(winner.agentId)).toEqual([
    {
      event: 'bounty.accepted',
      orderId,
      data: { bounty_id: bounty.id, brief: bounty.brief, budget_usd: '20.00', deadline_hours: 24 },
    },
  ])
  expect(await eventsOf(loser.agentId)).toEqual([
    { event: 'bounty.claim_rejected', orderId: '', data: { bounty_id: bounty.id } },
  ])
  expect(await eventsOf(absent.agentId)).toEqual([])
  await fixture.expectBalanced()
})

test('accept: the agent is paid the full budget, and the bounty is completed with its order', async () => {
  const { poster, winner, bounty, orderId } = await fixture.accepted()
  await fixture.deliverBy(winner, orderId)
  await fixture.approve(poster, orderId)
  const [money] = await fixture.moneyOf([orderId])
  expect(money).toMatchObject({ status: 'completed', escrow: 0n, payout: BUDGET, refund: 0n })
  expect((await fixture.bounty(bounty.id)).status).toBe('completed')
  await fixture.expectBalanced()
})

test('accept: a cancelled order refunds 110 % and ends the bounty', async () => {
  const { poster, bounty, orderId } = await fixture.accepted()
  await fixture.cancel(poster, orderId)
  const [money] = await fixture.moneyOf([orderId])
  expect(money).toMatchObject({ status: 'cancelled', escrow: 0n, payout: 0n, refund: ESCROW })
  expect((await fixture.bounty(bounty.id)).status).toBe('cancelled')
})

test('accept: the same transfer again returns the same order, and refunds nothing', async () => {
  const poster = newBuyer()
  const bounty = await fixture.post(poster)
  const claim = await fixture.claim(await fixture.makeClaimant(), bounty.id)
  const reference = fixture.fund(poster)
  const first = await fixture.accept(poster, claim, reference)
  expect(await fixture.accept(poster, claim, reference)).toMatchObject({ orderId: first.orderId })
  expect(await refundsOf(bounty.id)).toEqual([])
})

test('accept: a second transfer for a claimed bounty is rejected with 409 and refunded as a whole', async () => {
  const { poster, bounty, claim } = await fixture.accepted()
  const late = fixture.fund(poster, ESCROW + 5_000_000n)
  await expect(fixture.accept(poster, claim, late)).rejects.toEqual(rejection('bounty_not_open'))
  await expect(fixture.accept(poster, claim, late)).rejects.toEqual(rejection('transfer_refunded'))
  expect(await refundsOf(bounty.id)).toEqual([
    { payee: poster.wallet.key, amount: ESCROW + 5_000_000n, escrow: 0n },
  ])
  await fixture.expectBalanced()
})

test('accept: an unconfirmed transfer is waited for, and the claim does not expire meanwhile', async () => {
  const poster = newBuyer()
  const bounty = await fixture.post(poster)
  const claim = await fixture.claim(await fixture.makeClaimant(), bounty.id)
  fixture.clock.advance(24 * HOUR - 1_000)
  const payment = newPayment([[poster.wallet.key, ESCROW]])
  const waiting = await fixture.accept(poster, claim, payment.reference)
  expect(waiting).toMatchObject({ status: 'waiting', orderId: null })
  fixture.clock.advance(10_000)
  await fixture.expire()
  expect(await claimsOf(bounty.id)).toEqual({ [claim.id]: 'pending' })
  // A new acceptance is too late, although the claim is still held for the first one.
  await expect(fixture.accept(poster, claim, fixture.fund(poster))).rejects.toEqual(
    rejection('claim_not_pending'),
  )
  fixture.chain.mine([payment])
  await checkIntents()
  expect((await fixture.bounty(bounty.id)).status).toBe('claimed')
  const { orderId } = await fixture.accept(poster, claim, payment.reference)
  expect(orderId).not.toBeNull()
  expect(await refundsOf(bounty.id)).toHaveLength(1)
  await fixture.expectBalanced()
})

test('accept: a transfer that is confirmed after the claim was withdrawn is refunded, and the poster is notified', async () => {
  const poster = newBuyer()
  const claimant = await fixture.makeClaimant()
  const bounty = await fixture.post(poster)
  const claim = await fixture.claim(claimant, bounty.id)
  const payment = newPayment([[poster.wallet.key, ESCROW]])
  await fixture.accept(poster, claim, payment.reference)
  await fixture.withdraw(claimant, bounty.id)
  fixture.chain.mine([payment])
  await checkIntents()
  expect(await refundsOf(bounty.id)).toEqual([{ payee: poster.wallet.key, amount: ESCROW, escrow: 0n }])
  expect((await fixture.bounty(bounty.id)).status).toBe('open')
  const notified = await fixture.db
    .selectFrom('notifications')
    .select('kind')
    .where('recipient', '=', `wallet:${poster.wallet.key}`)
    .execute()
  expect(notified.map(({ kind }) => kind)).toContain('bounty.transfer_refunded')
})

test('accept: a transfer that never arrives fails, and the claim expires after the wait', async () => {
  const poster = newBuyer()
  const bounty = await fixture.post(poster)
  const claim = await fixture.claim(await fixture.makeClaimant(), bounty.id)
  fixture.clock.advance(24 * HOUR - 1_000)
  await fixture.accept(poster, claim, newPayment([[poster.wallet.key, ESCROW]]).reference)
  fixture.clock.advance(HOUR + 10_000)
  await fixture.finish()
  await fixture.expire()
  expect(await claimsOf(bounty.id)).toEqual({ [claim.id]: 'expired' })
  expect((await fixture.bounty(bounty.id)).status).toBe('open')
})

test('accept: a transfer of less than 110 % is rejected and stays unused', async () => {
  const poster = newBuyer()
  const bounty = await fixture.post(poster)
  const claim = await fixture.claim(await fixture.makeClaimant(), bounty.id)
  const small = fixture.fund(poster, ESCROW - 1n)
  await expect(fixture.accept(poster, claim, small)).rejects.toEqual(rejection('underpaid'))
  expect(await refundsOf(bounty.id)).toEqual([])
  await expect(fixture.accept(poster, claim, fixture.fund(newBuyer()))).rejects.toEqual(
    rejection('wrong_payer'),
  )
})

test('reorganization: a refunded transfer that the chain drops is not refunded, and again when it comes back', async () => {
  const { poster, bounty, claim } = await fixture.accepted()
  const late = fixture.fund(poster)
  await expect(fixture.accept(poster, claim, late)).rejects.toEqual(rejection('bounty_not_open'))
  expect(await refundsOf(bounty.id)).toHaveLength(1)
  await fixture.dropLastBlock()
  expect(await refundsOf(bounty.id)).toEqual([])
  for (let n = 0; n < 5; n++) fixture.chain.mineAgain(0, 0n)
  await checkIntents()
  expect(await refundsOf(bounty.id)).toEqual([{ payee: poster.wallet.key, amount: ESCROW, escrow: 0n }])
  await fixture.expectBalanced()
})

test('reorganization: the bounty of a reversed order waits, and ends when the order is cancelled', async () => {
  const { poster, winner, bounty, orderId } = await fixture.accepted()
  await fixture.deliverBy(winner, orderId)
  await fixture.approve(poster, orderId)
  await fixture.dropLastBlock()
  expect((await fixture.read(orderId)).status).toBe('accepted')
  expect((await fixture.bounty(bounty.id)).status).toBe('claimed')
  await fixture.cancel(poster, orderId)
  expect((await fixture.bounty(bounty.id)).status).toBe('cancelled')
  await fixture.expectBalanced()
})

test('bounties expire after 30 days, once with two sweeps', async () => {
  const bounty = await fixture.post(newBuyer())
  fixture.clock.advance(30 * DAY)
  await Promise.all([fixture.expire(), fixture.expire()])
  expect((await fixture.bounty(bounty.id)).status).toBe('expired')
})
