import { randomUUID } from 'node:crypto'
import { DAY, HOUR } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { maintainLedgerPartitions, venue } from '@market/money/ledger'
import { claimTransfer, findPayment, parsePurpose } from '@market/money/payments'
import {
  advancePayout,
  approvePayout,
  findPayoutOf,
  type Payout,
  refundTransfer,
  retryPayout,
  returnSurplus,
} from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount, question } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(chain)
await chain.mint(payer.address, 20_000_000_000n)
afterAll(() => chain.stop())

/** The defaults of the worker. */
const CAPS = {
  perPayout: usdc(1_000_000_000n),
  perPayee: usdc(2_500_000_000n),
  perDay: usdc(10_000_000_000n),
  accountMinimum: usdc(5_000_000n),
  gasBudget: {},
  cost: {},
}
const DUE = usdc(1_000_000n)

let ledger: PayoutLedger
beforeEach(async () => {
  ledger = await startPayoutLedger(chain)
  return ledger.stop
})

/** As the worker does: reads the chain, does the next step, and sends what is signed. */
const advance = async ({ id }: Payout, caps = CAPS) => {
  await follow(ledger.app, NETWORK)
  await advancePayout({ ...ledger.app, caps }, id)
  await ledger.submit()
}
const approve = async ({ id }: Payout) => {
  const approvalId = await saveApproved('approve_payout', id, { payout_id: id })
  await ledger.ctx.transact((tx) => approvePayout(ledger.ctx, tx, id, approvalId))
  return approvalId
}
const stateOf = async (payout: Payout) => {
  const { state, hold_code } = await ledger.rowOf(payout)
  return hold_code === null ? state : `${state}: ${hold_code}`
}

/** An order of 1 USD that is paid with more; the rest is returned as in production. */
async function overpay(orderId: string, amount: bigint): Promise<Payout> {
  const reference = await chain.transfer(payer, ledger.account.address, amount)
  await chain.mine(FINALITY)
  const seen = await findPayment(ledger.app, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer was not found')
  const purpose = parsePurpose(`order:${orderId}`)
  const subject = `${orderId}:surplus:${NETWORK}`
  await ledger.ctx.transact(async (tx) => {
    await claimTransfer(ledger.ctx, tx, { network: NETWORK, seen, purpose, due: DUE })
    await returnSurplus(ledger.ctx, tx, { network: NETWORK, subject, purpose, due: DUE }, seen)
  })
  await follow(ledger.app, NETWORK)
  const payout = await findPayoutOf(ledger.ctx.db, 'surplus', subject)
  if (payout === undefined) throw new Error('no surplus')
  return payout
}

test('daily_cap: eleven overpaid orders are returned, and the payout of another agent is not held', async () => {
  for (let n = 0; n < 11; n++) {
    const returned = await overpay(ledger.ctx.ids.next('ord'), 990_000_000n)
    await advance(returned)
    expect(await stateOf(returned)).toBe('signed')
    await chain.mine(FINALITY)
    await advance(returned)
    expect(await stateOf(returned)).toBe('final')
  }
  const earned = await ledger.request({ amount: usdc(900_000n) })
  await advance(earned)
  expect(await stateOf(earned)).toBe('signed')
})

/** What two operators approved. */
async function saveApproved(kind: string, subject: string, payload: object): Promise<string> {
  const [now, later] = [new Date(), new Date(Date.now() + 86_400_000)]
  const decided = { proposer: 'user:one', approver: 'user:two', state: 'approved', decided_at: now }
  const times = { created_at: now, expires_at: later }
  const texts = { subject, summary: 'pay', reason: 'Both know the payee' }
  const id = `apr_${randomUUID()}`
  await ledger.ctx.db
    .insertInto('approvals')
    .values({ id, kind, payload: JSON.stringify(payload), ...texts, ...decided, ...times })
    .execute()
  return id
}

test('daily_cap: a refund counts when its payee is not the payer of the transfer', async () => {
  const small = { ...CAPS, perPayout: usdc(60_000_000n), perDay: usdc(80_000_000n) }
  const reference = await chain.transfer(payer, ledger.account.address, 60_000_000n)
  await chain.mine(FINALITY)
  const seen = await findPayment(ledger.app, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer was not found')
  // The payer of a transaction with several senders is unknown, so an operator names the payee.
  const unclaimed = { ...seen, payer: null }
  const purpose = parsePurpose('order:unknown')
  await ledger.ctx.transact((tx) =>
    claimTransfer(ledger.ctx, tx, { network: NETWORK, seen: unclaimed, purpose, due: DUE }),
  )
  await ledger.ctx.db.updateTable('transfers').set({ state: 'final' }).execute()
  const approvedPayee = newAccount().address
  const unmatchedId = `surplus:${NETWORK}:${reference}`
  await saveApproved('refund_unmatched', unmatchedId, { unmatched_id: unmatchedId, payee: approvedPayee })
  const refund = await ledger.ctx.transact((tx) =>
    refundTransfer(ledger.ctx, tx, { network: NETWORK, reference, index: 0, from: 'surplus', approvedPayee }),
  )
  await advance(refund, small)
  expect(await stateOf(refund)).toBe('signed')
  const next = await ledger.request({ amount: usdc(30_000_000n) })
  await advance(next, small)
  expect(await stateOf(next)).toBe('held: daily_cap')
})

test('move_to_venue: counts against no daily cap, but one above the cap per payout waits for operators', async () => {
  const caps = {
    ...CAPS,
    perPayout: usdc(50_000_000n),
    perPayee: usdc(60_000_000n),
    perDay: usdc(60_000_000n),
  }
  const wallet = newAccount().address
  const move = (n: number, amount: bigint) =>
    ledger.request({
      ...{ kind: 'move_to_venue', subject: `emv_${n}`, payee: wallet, amount: usdc(amount) },
      from: venue(NETWORK, `emv_${n}`),
    })
  const moves = [await move(1, 50_000_000n), await move(2, 50_000_000n), await move(3, 50_000_001n)] as const
  for (const payout of moves) await advance(payout, caps)
  expect(await Promise.all(moves.map(stateOf))).toEqual(['signed', 'signed', 'held: payout_cap'])
  const other = await ledger.request({ amount: usdc(50_000_000n) })
  await advance(other, caps)
  expect(await stateOf(other)).toBe('signed')
  await approve(moves[2])
  await advance(moves[2], caps)
  expect(await stateOf(moves[2])).toBe('signed')
})

test('payee_cap: holds the payout above it for a day and its hour, and no payout to another payee', async () => {
  const caps = { ...CAPS, perPayee: usdc(50_000_000n) }
  const payee = newAccount().address
  const [first, second] = [
    await ledger.request({ payee, amount: usdc(30_000_000n) }),
    await ledger.request({ payee, amount: usdc(30_000_000n) }),
  ]
  for (const payout of [first, second]) await advance(payout, caps)
  expect([await stateOf(first), await stateOf(second)]).toEqual(['signed', 'held: payee_cap'])
  expect((await ledger.rowOf(second)).hold_detail).toBe('50.00 USDC')
  const other = await ledger.request({ amount: usdc(30_000_000n) })
  await advance(other, caps)
  expect(await stateOf(other)).toBe('signed')
  await chain.mine(FINALITY)
  await advance(first, caps)
  ledger.ctx.clock.advance(DAY + HOUR)
  await maintainLedgerPartitions(ledger.ctx)
  await advance(second, caps)
  expect(await stateOf(second)).toBe('signed')
})

test('payee_cap: counts what an agent was paid at another address', async () => {
  const caps = { ...CAPS, perPayee: usdc(50_000_000n) }
  const earned = { agentId: 'agt_1_00000000000000001', amount: usdc(30_000_000n) } as const
  const [first, second] = [await ledger.request(earned), await ledger.request(earned)]
  for (const payout of [first, second]) await advance(payout, caps)
  expect(await stateOf(second)).toBe('held: payee_cap')
})

test('payout_cap: an approval that the row only names, or that is about another payout, lifts no cap', async () => {
  const caps = { ...CAPS, perPayout: usdc(50_000_000n) }
  const large = await ledger.request({ amount: usdc(60_000_000n) })
  const other = await saveApproved('approve_payout', 'pay_other', { payout_id: 'pay_other' })
  for (const approval_id of ['apr_forged', other]) {
    await ledger.ctx.db
      .updateTable('payouts')
      .set({ approval_id, approved_at: new Date() })
      .where('id', '=', large.id)
      .execute()
    await advance(large, caps)
    expect(await stateOf(large)).toBe('held: payout_cap')
  }
})

test('approvePayout: a payout above a cap is sent once approved, and uses nothing of the cap of others', async () => {
  const caps = { ...CAPS, perPayout: usdc(50_000_000n), perDay: usdc(50_000_000n) }
  const large = await ledger.request({ amount: usdc(60_000_000n) })
  await advance(large, caps)
  expect(await stateOf(large)).toBe('held: payout_cap')
  const approvalId = await approve(large)
  expect(await ledger.rowOf(large)).toMatchObject({ approval_id: approvalId })
  expect((await ledger.rowOf(large)).due_at).toEqual(ledger.ctx.clock.now())
  await advance(large, caps)
  expect(await stateOf(large)).toBe('signed')
  const other = await ledger.request({ amount: usdc(50_000_000n) })
  await advance(other, caps)
  expect(await stateOf(other)).toBe('signed')
})

test('approvePayout: returns 409 for a payout that no cap holds and 404 for an unknown one', async () => {
  const payout = await ledger.request()
  await expect(approve(payout)).rejects.toMatchObject({ kind: 'conflict' })
  await ledger.freeze(true)
  await advance(payout)
  await expect(approve(payout)).rejects.toMatchObject({ kind: 'conflict' })
  const unknown = { ...payout, id: `pay_${'0'.repeat(32)}` as const }
  await expect(approve(unknown)).rejects.toMatchObject({ kind: 'not_found' })
})

test('approvePayout: the approval does not count for another payee', async () => {
  const caps = { ...CAPS, perPayout: usdc(50_000_000n) }
  const payout = await ledger.request({ amount: usdc(60_000_000n) })
  await advance(payout, caps)
  await approve(payout)
  await ledger.ctx.db.updateTable('payouts').set({ state: 'failed', hold_code: null }).execute()
  await ledger.ctx.transact((tx) => retryPayout(ledger.ctx, tx, payout.id, { payee: newAccount().address }))
  await advance(payout, caps)
  expect(await stateOf(payout)).toBe('held: payout_cap')
})
